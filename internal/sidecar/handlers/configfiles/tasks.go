// Package configfiles holds the tasks that write the node's configuration files.
// What the files should say is decided by the configuration engine; here it is
// read, applied and written. Every task writes whole files whose content depends
// only on its inputs and the files, so running one again changes nothing.
package configfiles

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
)

// Tasks are the configuration tasks of one node.
type Tasks struct {
	Node *node.Node
	// Witness makes a client of another node's RPC, for state sync.
	Witness func(address string) Witness
}

// Handlers are the task types of this package.
func (t *Tasks) Handlers() []engine.Handler {
	groups := []engine.Group{engine.GroupConfig}
	return []engine.Handler{
		node.Handler(api.ConfigApply, groups, t.apply),
		node.Handler(api.ConfigPatch, groups, t.patch),
		node.Handler(api.ConfigReload, groups, t.reload),
		node.Handler(api.ConfigValidate, groups, t.validate),
		node.Handler(api.ConfigureStateSync, groups, t.configureStateSync),
	}
}

func (t *Tasks) apply(ctx context.Context, task engine.Task, p wire.ConfigApply) (any, error) {
	facts, err := t.facts()
	if err != nil {
		return nil, err
	}
	intent := config.Intent{
		Mode: seid.Mode(p.Mode), Overrides: p.Overrides, TargetVersion: p.TargetVersion,
		Incremental: p.Incremental, Moniker: p.Moniker, CPUs: p.CPUs, Facts: facts,
	}
	if !p.Incremental {
		mode, err := seid.ParseMode(p.Mode)
		if err != nil {
			return nil, api.InvalidField("mode", "%w", err)
		}
		defaults, err := t.defaults(ctx, mode)
		if err != nil {
			return nil, err
		}
		intent.Defaults = &defaults
	}
	return t.change(task, func(files config.Files) (config.Files, error) { return config.Apply(files, intent) })
}

func (t *Tasks) patch(_ context.Context, task engine.Task, p wire.ConfigPatch) (any, error) {
	patch := make(map[string]map[string]any, len(p.Files))
	for name, raw := range p.Files {
		tree, err := config.ParsePatch(raw)
		if err != nil {
			return nil, api.InvalidField("files["+name+"]", "%w", err)
		}
		patch[name] = tree
	}
	return t.change(task, func(files config.Files) (config.Files, error) { return config.Patch(files, patch) })
}

// reload changes keys that need no restart. The files are written; seid reads
// them when it next looks, no signal is sent.
func (t *Tasks) reload(_ context.Context, task engine.Task, p wire.ConfigReload) (any, error) {
	return t.change(task, func(files config.Files) (config.Files, error) { return config.Reload(files, p.Fields) })
}

// validate gives its findings as the result; findings that would keep seid from
// starting are an error as well.
func (t *Tasks) validate(context.Context, engine.Task, wire.ConfigValidate) (any, error) {
	files, err := t.read()
	if err != nil {
		return nil, err
	}
	facts, err := t.facts()
	if err != nil {
		return nil, err
	}
	report := config.NewReport(files, facts)
	if report.Valid {
		return report, nil
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return report, api.Terminal(api.CodeInvalidParams, fmt.Errorf("config validation failed: %s", raw)).
		WithHint("correct the named fields with config-apply or config-patch")
}

// defaults are the files that `seid init` of this very binary writes.
func (t *Tasks) defaults(ctx context.Context, mode seid.Mode) (config.Files, error) {
	scratch, cleanup, err := t.Node.Scratch("defaults")
	if err != nil {
		return config.Files{}, err
	}
	defer cleanup()
	// No version of seid knows this chain; for those it knows it writes the whole
	// genesis, which takes long.
	err = t.Node.Seid.InitHome(ctx, seidcmd.Init{Moniker: "defaults", ChainID: "defaults-1", Home: scratch, Mode: mode})
	if err != nil {
		return config.Files{}, err
	}
	return config.Read(scratch + "/config")
}

func (t *Tasks) read() (config.Files, error) {
	return config.Read(t.Node.Home.Config())
}

func (t *Tasks) facts() (config.Facts, error) {
	bare, err := t.Node.Home.StateWithoutStore()
	return config.Facts{StateWithoutStore: bare}, err
}

// change reads, applies and writes. What will change is noted before it is
// written, because a run after a crash could no longer tell.
func (t *Tasks) change(task engine.Task, apply func(config.Files) (config.Files, error)) (any, error) {
	before, err := t.read()
	if err != nil {
		return nil, err
	}
	after, err := apply(before)
	if err != nil {
		return nil, refused(err)
	}
	var result wire.ConfigChanges
	noted, err := notes.Find(task, "config changes", &result)
	if err != nil {
		return nil, err
	}
	if !noted {
		result = changes(before, after)
		if err := notes.Keep(task, "config changes", result); err != nil {
			return nil, err
		}
	}
	if err := t.write(after); err != nil {
		return nil, err
	}
	return result, nil
}

func (t *Tasks) write(files config.Files) error {
	for _, name := range config.FileNames() {
		if err := durable.Sweep(t.Node.Home.Config(), string(name)); err != nil {
			return err
		}
	}
	return config.Write(t.Node.Home.Config(), files)
}

func changes(before, after config.Files) wire.ConfigChanges {
	diff := config.Diff(before, after)
	result := wire.ConfigChanges{RestartRequired: config.NeedsRestart(diff), Changed: []string{}}
	for _, c := range diff {
		result.Changed = append(result.Changed, c.Place.String())
	}
	return result
}

// refused marks what the engine did not accept: the same intent will not be
// accepted later either.
func refused(err error) error {
	return api.Terminal(api.CodeInvalidParams, err)
}
