package handlers

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
)

// localClient asks the node itself, and only the node if it has a certificate.
func localClient(at config.Endpoint, timeout time.Duration) *rpc.Client {
	options := []rpc.Option{rpc.WithTimeout(timeout)}
	if at.CertFile != "" {
		options = append(options, rpc.WithCertificate(at.CertFile))
	}
	return rpc.New(at.URL, options...)
}

// blockTime asks the node when it made a block.
func blockTime(local func() *rpc.Client) func(context.Context, int64) (time.Time, error) {
	return func(ctx context.Context, height int64) (time.Time, error) {
		commit, err := local().Commit(ctx, height)
		if err != nil {
			return time.Time{}, err
		}
		return commit.Header.Time, nil
	}
}

// withoutChunks lets a state sync be set up on a home without the chunks of a killed one.
// They can be as large as the state itself.
func withoutChunks(dir home.Dir, checkStopped func(context.Context) error, all []engine.Handler) []engine.Handler {
	for i, h := range all {
		if h.Type != api.ConfigureStateSync {
			continue
		}
		all[i].Run = func(ctx context.Context, task engine.Task, params json.RawMessage) (any, error) {
			if checkStopped(ctx) == nil {
				// What cannot be removed does no harm but the space it takes.
				_ = leftovers.StateSync(dir)
			}
			return h.Run(ctx, task, params)
		}
	}
	return all
}

// withoutUpload lets a reset end the upload of what it deletes. It waits for neither the upload
// nor the bucket.
func withoutUpload(abandon func(), all []engine.Handler) []engine.Handler {
	for i, h := range all {
		if h.Type != api.ResetData {
			continue
		}
		all[i].Run = func(ctx context.Context, task engine.Task, params json.RawMessage) (any, error) {
			abandon()
			return h.Run(ctx, task, params)
		}
	}
	return all
}
