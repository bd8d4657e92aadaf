package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// Serve makes the trial that somebody asks for, if anybody does. The gate calls it while it
// waits and seid does not run; argv is how it will run seid.
func Serve(ctx context.Context, home string, argv []string) error {
	var req request
	found, err := load(requestFile(home), &req)
	if err != nil {
		return errors.Join(err, durable.Remove(requestFile(home)))
	}
	if !found {
		return nil
	}
	if time.Now().After(req.Until) {
		return durable.Remove(requestFile(home)) // whoever asked is gone
	}
	if err := store(answerFile(home), answer{ID: req.ID}); err != nil {
		return err
	}
	subject, err := read(home)
	result := skip("%v", err)
	if err == nil {
		if result, err = try(ctx, home, argv, req.SeidVersion, subject); err != nil {
			return err
		}
	}
	if err := withdraw(home, req.ID); err != nil {
		return err
	}
	return store(answerFile(home), answer{ID: req.ID, Done: true, Digest: subject.digest, Result: result})
}

// withdraw removes a request that is done with.
func withdraw(home, id string) error {
	var req request
	found, err := load(requestFile(home), &req)
	if !found || err != nil || req.ID != id {
		return err
	}
	return durable.Remove(requestFile(home))
}

// Try starts seid on files in a scratch home below home, and ends it when it is up. argv is
// how the gate runs seid. The error is that of ctx.
func Try(ctx context.Context, home string, argv []string, version string, files config.Files) (Result, error) {
	if len(argv) == 0 {
		return skip("it is not known how seid is run"), nil
	}
	return attempt{home: home, binary: argv[0], version: version, files: files, timeout: DefaultTimeout}.run(ctx)
}

// try makes a trial and remembers what came of it.
func try(ctx context.Context, home string, argv []string, version string, s subject) (Result, error) {
	result, err := Try(ctx, home, argv, version, s.files)
	if err != nil || result.Skipped != "" || result.unsure {
		return result, err
	}
	return result, remember(home, verdict{Digest: s.trial, SeidVersion: version, Refused: result.Refused})
}

// Before makes sure that seid will start on the files on disk, right before it is started.
// Files that were never tried with this version are tried now. When seid refuses them, the
// last good configuration takes their place; the error is that there is none.
func Before(ctx context.Context, home string, argv []string, version string) error {
	// The last good files may not have been tried either.
	for range 2 {
		replaced, err := before(ctx, home, argv, version)
		if err != nil || !replaced {
			return err
		}
	}
	return nil
}

func before(ctx context.Context, home string, argv []string, version string) (replaced bool, err error) {
	subject, err := read(home)
	if err != nil {
		return replace(home, version, err)
	}
	verdict, err := known(home, subject, version)
	if err != nil {
		return false, err
	}
	result := Result{Tried: true}
	if verdict != nil {
		result.Refused = verdict.Refused
	} else if result, err = try(ctx, home, argv, version, subject); err != nil {
		return false, err
	}
	switch {
	case result.Skipped != "":
		return false, nil
	case result.Refused == "":
		return false, prove(home, subject.digest, version)
	case result.unsure:
		return hung(home, subject.digest, version, result)
	}
	return putBack(home, subject.digest, api.Validation{SeidVersion: version, Tried: true, Error: result.Refused})
}

// hung is about a seid that took too long. Without a last good configuration to go back to
// nothing is recorded, so that it is tried again.
func hung(home, digest, version string, result Result) (replaced bool, err error) {
	if good, err := configstate.HasGood(home, digest, version); err != nil || !good {
		return false, errors.Join(errors.New(result.Refused), err)
	}
	return putBack(home, digest, api.Validation{SeidVersion: version, Tried: true, Error: result.Refused})
}

// replace puts the last good configuration in the place of files that are none.
func replace(home, version string, cause error) (replaced bool, err error) {
	state, err := configstate.Read(home)
	if err != nil {
		return false, errors.Join(cause, err)
	}
	return putBack(home, state.Digest, api.Validation{SeidVersion: version, Error: cause.Error()})
}

func putBack(home, digest string, v api.Validation) (replaced bool, err error) {
	replaced, err = configstate.Fail(home, digest, v)
	if err == nil && !replaced {
		err = fmt.Errorf("seid %s does not start on the configuration on disk, and there is no last good one: %s", v.SeidVersion, v.Error)
	}
	return replaced, err
}

// prove lets a configuration that has passed validation count as tried.
func prove(home, digest, version string) error {
	state, err := configstate.Read(home)
	if err != nil {
		return err
	}
	v := state.Validation
	if v == nil || !v.Valid || v.Tried || v.SeidVersion != version || state.Digest != digest {
		return nil
	}
	return configstate.Pass(home, digest, api.Validation{SeidVersion: version, Tried: true})
}
