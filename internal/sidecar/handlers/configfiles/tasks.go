// Package configfiles holds the tasks that write the node's configuration files.
// What the files should say is decided by the configuration engine; here it is
// read, applied and written. Every task writes whole files whose content depends
// only on its inputs and the files, so running one again changes nothing.
package configfiles

import (
	"context"
	"errors"
	"strings"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/seidcmd"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

// Tasks are the configuration tasks of one node.
type Tasks struct {
	Node *node.Node
	// Witness makes a client of another node's RPC, for state sync.
	Witness func(address string) Witness
	// InSync says why the node is not in sync; a nil field: it is not known.
	InSync func(context.Context) error
	// Trial has seid started on the files on disk; nil: there is nobody who could.
	Trial func(ctx context.Context, seidVersion string) (trial.Result, error)
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
	result, err := t.applyIntent(ctx, task, p)
	if detail := api.DetailOf(err); err != nil && detail.Terminal && detail.Code == api.CodeInvalidParams {
		return nil, errors.Join(err, t.recordRefusal(ctx, p.ConfigHash, err))
	}
	return result, err
}

func (t *Tasks) applyIntent(ctx context.Context, task engine.Task, p wire.ConfigApply) (any, error) {
	facts, err := t.facts(ctx)
	if err != nil {
		return nil, err
	}
	synced, err := stage.Synced(string(t.Node.Home))
	if err != nil {
		return nil, err
	}
	intent := config.Intent{
		Mode: seid.Mode(p.Mode), Overrides: p.Overrides, TargetVersion: p.TargetVersion,
		Incremental: p.Incremental, Moniker: p.Moniker, CPUs: p.CPUs, Facts: facts,
		ChainID: t.Node.ChainID, KeepStateSync: !synced,
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
		intent.Defaults, intent.Facts.Defaults = &defaults, &defaults
	}
	return t.change(ctx, task, p.ConfigHash, func(files config.Files) (config.Files, error) { return config.Apply(files, intent) })
}

// recordRefusal lets the node document tell that a configuration was not accepted.
func (t *Tasks) recordRefusal(ctx context.Context, hash string, cause error) error {
	version, err := t.Node.Seid.Version(ctx)
	if err != nil {
		return err
	}
	return configstate.Refuse(string(t.Node.Home), api.Refusal{ConfigHash: hash, SeidVersion: version, Error: short(cause.Error())})
}

func (t *Tasks) patch(ctx context.Context, task engine.Task, p wire.ConfigPatch) (any, error) {
	patch := make(map[string]map[string]any, len(p.Files))
	for name, raw := range p.Files {
		tree, err := config.ParsePatch(raw)
		if err != nil {
			return nil, api.InvalidField("files["+name+"]", "%w", err)
		}
		patch[name] = tree
	}
	return t.change(ctx, task, "", func(files config.Files) (config.Files, error) { return config.Patch(files, patch) })
}

// reload changes keys that need no restart. The files are written; seid reads
// them when it next looks, no signal is sent.
func (t *Tasks) reload(ctx context.Context, task engine.Task, p wire.ConfigReload) (any, error) {
	return t.change(ctx, task, "", func(files config.Files) (config.Files, error) { return config.Reload(files, p.Fields) })
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

func (t *Tasks) facts(ctx context.Context) (config.Facts, error) {
	bare, err := t.Node.Home.StateWithoutStore()
	// Not every version tells; then the rules on storage engines do without.
	tags, _ := t.Node.Seid.BuildTags(ctx)
	return config.Facts{StateWithoutStore: bare, BuildTags: tags}, err
}

// change reads, applies and writes, under the name hash. What will change is noted before
// it is written, because a run after a crash could no longer tell.
func (t *Tasks) change(ctx context.Context, task engine.Task, hash string, apply func(config.Files) (config.Files, error)) (any, error) {
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
		if result, err = t.changes(ctx, before, after); err != nil {
			return nil, err
		}
		if err := notes.Keep(task, "config changes", result); err != nil {
			return nil, err
		}
	}
	if err := configstate.Write(string(t.Node.Home), after, hash); err != nil {
		return nil, err
	}
	return result, nil
}

// write changes the files without making another configuration of them: it keeps its name.
func (t *Tasks) write(files config.Files) error {
	return configstate.Amend(string(t.Node.Home), files)
}

// changes compares with the files on disk, and for the need of a restart with those that
// seid was started with, so that a restart that is due is due until it happened.
func (t *Tasks) changes(ctx context.Context, before, after config.Files) (wire.ConfigChanges, error) {
	result := wire.ConfigChanges{Changed: []string{}}
	for _, c := range config.Diff(before, after) {
		result.Changed = append(result.Changed, c.Place.String())
	}
	started, known, err := configstate.StartedWith(string(t.Node.Home))
	if err != nil {
		return result, err
	}
	if !known {
		started = before
	}
	synced, err := stage.Synced(string(t.Node.Home))
	if err != nil {
		return result, err
	}
	running := config.Running{Synced: synced, InSync: t.InSync != nil && t.InSync(ctx) == nil}
	result.RestartRequired = len(config.RestartKeys(config.Diff(started, after), running)) > 0
	return result, nil
}

// refused marks what the engine did not accept: the same intent will not be
// accepted later either.
func refused(err error) error {
	return api.Terminal(api.CodeInvalidParams, err)
}

// short bounds a text that is kept on the volume and shown in statuses.
func short(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ..."
}
