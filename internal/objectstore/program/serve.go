package program

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httputil"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// Serve answers the call that comes in.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	input := bufio.NewReader(in)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the call: %w", err)
	}
	var c call
	if err := json.Unmarshal(line, &c); err != nil {
		return fmt.Errorf("reading the call: %w", err)
	}
	bucket, err := objectstore.Open(ctx, c.Address)
	if err != nil {
		return err
	}
	defer func() { _ = bucket.Close() }()
	switch c.Op {
	case opStat:
		object, err := bucket.Stat(ctx, c.Key)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(object)
	case opList:
		lines := json.NewEncoder(out)
		return bucket.List(ctx, c.Key, func(o objectstore.Object) error { return lines.Encode(o) })
	case opGet:
		return get(ctx, bucket, c, out)
	case opPutNew:
		return bucket.PutNew(ctx, c.Key, c.ContentType, httputil.NewChunkedReader(input))
	case opDelete:
		return bucket.Delete(ctx, c.Key)
	case opPut:
		return bucket.PutLarge(ctx, c.Key, c.ContentType, httputil.NewChunkedReader(input), c.Size)
	}
	return fmt.Errorf("unknown operation %q", c.Op)
}

func get(ctx context.Context, bucket *objectstore.Bucket, c call, out io.Writer) error {
	object, err := bucket.GetFrom(ctx, c.Key, c.Offset)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }()
	if _, err := io.WriteString(out, begins); err != nil {
		return fmt.Errorf("passing on %s: %w", c.Key, err)
	}
	_, err = io.Copy(out, object)
	return err
}
