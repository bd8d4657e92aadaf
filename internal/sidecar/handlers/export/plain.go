package export

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// exportLine is one block of a page.
type exportLine struct {
	Height       int64           `json:"height"`
	ExportedAt   time.Time       `json:"exported_at"`
	BlockResults json.RawMessage `json:"block_results"`
}

// export writes all full pages there are and is done. A node that does not
// answer has nothing to export.
func (j *job) export(ctx context.Context) error {
	size := cmp.Or(j.ExportPage, defaultExportPage)
	for {
		status, err := j.shadow.Status(ctx)
		if errors.Is(err, rpc.ErrUnreachable) && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("querying the node: %w", err)
		}
		first, head := j.last+1, status.SyncInfo.LatestBlockHeight
		if earliest := status.SyncInfo.EarliestBlockHeight; earliest > first {
			return api.Terminal(api.CodePrecondition, fmt.Errorf("block %d is to be exported, but the node has none below %d", first, earliest)).
				WithHint("the node prunes faster than it exports; raise min-retain-blocks")
		}
		end := first + size - 1
		if end > head {
			return nil
		}
		if err := j.exportPage(ctx, first, end); err != nil {
			return err
		}
		if err := j.advance(end); err != nil {
			return err
		}
		j.task.Progress(api.Progress{Done: end, Total: head, Unit: "blocks", Message: "exporting block results"})
	}
}

func (j *job) exportPage(ctx context.Context, first, end int64) error {
	key := fmt.Sprintf("%s%d-%d.ndjson.gz", j.params.Prefix, first, end)
	return j.putLines(ctx, key, func(enc *json.Encoder) error {
		for height := first; height <= end; height++ {
			results, err := j.shadow.BlockResults(ctx, height)
			if err != nil {
				return api.Retryable(api.CodeUnavailable, fmt.Errorf("querying the results of block %d: %w", height, err))
			}
			if err := enc.Encode(exportLine{Height: height, ExportedAt: time.Now().UTC(), BlockResults: results.Raw}); err != nil {
				return err
			}
		}
		return nil
	})
}

// putLines streams compressed JSON into an object; an error of fill leaves no
// object.
func (j *job) putLines(ctx context.Context, key string, fill func(*json.Encoder) error) error {
	reader, writer := io.Pipe()
	go func() {
		zipped := gzip.NewWriter(writer)
		err := fill(json.NewEncoder(zipped))
		if err == nil {
			err = zipped.Close()
		}
		writer.CloseWithError(err)
	}()
	err := j.bucket.Put(ctx, key, "application/gzip", reader)
	_ = reader.Close()
	return err
}
