package task

import (
	"context"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/render"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// resultExportParams say which export the sidecar should see to; with none it ends. An export that
// has ended with a divergence and is the one that is wanted was asked for again: nothing else
// makes a plan of it.
func resultExportParams(_ context.Context, env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	export, _, _ := render.ResultExport(env.Render)
	if export == nil {
		return wire.SetResultExport{}, nil
	}
	runs := env.Document.ResultExport
	export.Again = runs != nil && runs.Hash == export.Hash && runs.Divergence != nil
	return *export, nil
}
