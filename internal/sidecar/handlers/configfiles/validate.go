package configfiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/notes"
	"github.com/sei-operator/sei-operator/internal/sidecar/trial"
)

// findings is the result of config-validate, and what it remembers of files that failed:
// a run after a kill may find the last good ones in their place.
type findings struct {
	config.Report
	wire.ConfigTrial
	// Digest and SeidVersion are what was validated, and for what.
	Digest      string `json:"digest,omitempty"`
	SeidVersion string `json:"seidVersion,omitempty"`
}

const failedNote = "refused configuration"

// refusal is the note on files that failed. It answers for the run that found it: who
// submits the failed task again asks about the files that are there now.
type refusal struct {
	Run   int      `json:"run"`
	Found findings `json:"found"`
}

// validate gives its findings as the result; findings that would keep seid from
// starting are an error as well.
func (t *Tasks) validate(ctx context.Context, task engine.Task, _ wire.ConfigValidate) (any, error) {
	var earlier refusal
	noted, err := notes.Find(task, failedNote, &earlier)
	if err != nil {
		return nil, err
	}
	if noted && earlier.Run == task.Run {
		return t.fail(earlier.Found)
	}
	found, err := t.examine(ctx)
	if err != nil {
		return nil, err
	}
	if !found.Valid {
		if err := notes.Keep(task, failedNote, refusal{task.Run, found}); err != nil {
			return nil, err
		}
		return t.fail(found)
	}
	verdict := api.Validation{SeidVersion: found.SeidVersion, Tried: found.Tried, Error: found.Skipped}
	return found, changedMeanwhile(configstate.Pass(string(t.Node.Home), found.Digest, verdict))
}

// examine checks the files against the rules, and has seid started on them if they pass.
func (t *Tasks) examine(ctx context.Context) (findings, error) {
	version, err := t.Node.Seid.Version(ctx)
	if err != nil {
		return findings{}, err
	}
	state, err := configstate.Read(string(t.Node.Home))
	if err != nil {
		return findings{}, err
	}
	found := findings{Digest: state.Digest, SeidVersion: version}
	files, err := t.read()
	if err != nil {
		found.Report = config.Unreadable(err)
		return found, nil
	}
	facts, err := t.facts(ctx)
	if err != nil {
		return findings{}, err
	}
	if defaults, err := t.defaults(ctx, seid.ModeFull); err == nil {
		facts.Defaults = &defaults // without them rules on what differs by version are left out
	}
	if found.Report = config.NewReport(files, facts); !found.Valid || t.Trial == nil {
		return found, nil
	}
	tried, err := t.Trial(ctx, version)
	if err != nil {
		return findings{}, changedMeanwhile(err)
	}
	found.judge(tried)
	return found, nil
}

func (f *findings) judge(tried trial.Result) {
	f.Tried, f.Skipped = tried.Tried, tried.Skipped
	if tried.Refused != "" {
		f.Valid = false
		f.Diagnostics = append(f.Diagnostics, config.Diagnostic{Severity: config.SeverityError, Field: "seid", Message: tried.Refused})
	}
}

// fail puts the last good configuration back in force, if there is one.
func (t *Tasks) fail(found findings) (any, error) {
	raw, err := json.Marshal(found.Report)
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	failure := api.Terminal(api.CodeInvalidParams, fmt.Errorf("config validation failed: %s", raw)).
		WithHint("correct the named fields with config-apply or config-patch")
	replaced, err := configstate.Fail(string(t.Node.Home), found.Digest, api.Validation{
		SeidVersion: found.SeidVersion, Tried: found.Tried, Error: short(failure.Error()),
	})
	if errors.Is(err, configstate.ErrChanged) {
		// An earlier run of this task was killed after it had put them back.
		replaced, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	if replaced {
		found.Replaced = true
		failure = failure.WithHint("%s; the last good configuration stays active", failure.Detail.Hint)
	}
	return found, failure
}

func changedMeanwhile(err error) error {
	if errors.Is(err, configstate.ErrChanged) || errors.Is(err, trial.ErrChanged) {
		return api.Retryable(api.CodeConflict, err)
	}
	return err
}
