package configstate

import (
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/stage"
)

// Started keeps a copy of the files that seid is about to be started with.
func Started(home string) error {
	return change(home, func(l *ledger) error {
		files, err := config.Read(l.config())
		if err != nil {
			return err
		}
		return l.stage(startedDir, files, nil)
	})
}

// StartedWith are the files that seid was last started with; ok is false when that is not
// known.
func StartedWith(home string) (files config.Files, ok bool, err error) {
	files, err = config.Read(volume{home}.own(startedDir))
	return files, files.Config != nil, err
}

// RestartDue lists the keys, as file:section.key, that differ between what seid was started
// with and what is on disk and that only a restart brings into force. It is empty when it is
// not known what seid was started with.
func RestartDue(home string, inSync bool) ([]string, error) {
	started, known, err := StartedWith(home)
	if err != nil || !known {
		return nil, err
	}
	files, err := config.Read(volume{home}.config())
	if err != nil {
		return nil, err
	}
	synced, err := stage.Synced(home)
	if err != nil {
		return nil, err
	}
	var due []string
	for _, c := range config.RestartKeys(config.Diff(started, files), config.Running{InSync: inSync, Synced: synced}) {
		due = append(due, c.Place.String())
	}
	return due, nil
}

// MayStart says why seid of this version must not be started on what is on disk; nil means
// that it may.
func MayStart(home, seidVersion string) error {
	if err := dataWhole(home); err != nil {
		return err
	}
	return change(home, func(l *ledger) error {
		judged := l.Verdict != nil && l.Verdict.Digest == l.disk && l.Verdict.SeidVersion == seidVersion
		switch {
		case judged && !l.Verdict.Valid:
			return fmt.Errorf("the configuration on disk is not valid for seid %s: %s", seidVersion, l.Verdict.Error)
		case !judged && l.named() && l.Current.Hash != "":
			return fmt.Errorf("configuration %s has not passed config-validate for seid %s", l.Current.Hash, seidVersion)
		}
		return nil
	})
}

// dataWhole says why seid must not be started on the chain data.
func dataWhole(home string) error {
	reset, err := stage.LastReset(home)
	if err != nil {
		return err
	}
	if reset != nil && !reset.Done {
		return errors.New("the chain data was deleted only partly: run reset-data again, which deletes the rest")
	}
	return nil
}
