package configstate

import (
	"errors"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// ErrChanged is a verdict on files that are not those on disk any more.
var ErrChanged = errors.New("the configuration changed while it was validated")

// good says what the files beside it are.
type good struct {
	Hash        string `json:"hash,omitempty"`
	Digest      string `json:"digest"`
	SeidVersion string `json:"seidVersion"`
	Tried       bool   `json:"tried"`
}

func noteIn(dir string) string { return filepath.Join(dir, "about.json") }

func (v volume) good() (good, error) {
	var g good
	err := readJSON(noteIn(v.own(goodDir)), &g)
	return g, err
}

// HasGood reports whether there is a last good configuration for the version that is not the
// one with this digest.
func HasGood(home, digest, seidVersion string) (bool, error) {
	g, err := volume{home}.good()
	return g.Digest != "" && g.Digest != digest && g.SeidVersion == seidVersion, err
}

// Pass records that the files with this digest are valid, and keeps a copy as the last good
// configuration. One that seid was not started on does not take the place of one that it was.
func Pass(home, digest string, v api.Validation) error {
	return change(home, func(l *ledger) error {
		if l.disk != digest {
			return ErrChanged
		}
		last, err := l.good()
		if err != nil {
			return err
		}
		next := good{Digest: digest, SeidVersion: v.SeidVersion, Tried: v.Tried || (last.Digest == digest && last.SeidVersion == v.SeidVersion && last.Tried)}
		if l.named() {
			next.Hash = l.Current.Hash
		}
		proven := last.SeidVersion == v.SeidVersion && last.Tried && !next.Tried
		if next != last && !proven {
			files, err := config.Read(l.config())
			if err != nil {
				return err
			}
			if err := l.stage(goodDir, files, next); err != nil {
				return err
			}
		}
		v.Valid = true
		l.Verdict = &verdict{Digest: digest, Validation: v}
		return l.save(l.record)
	})
}

// Fail records that the files with this digest are not valid. When there is a last good
// configuration for the version, it is put back in their place and true is returned;
// otherwise the files stay.
func Fail(home, digest string, v api.Validation) (replaced bool, err error) {
	v.Valid = false
	err = change(home, func(l *ledger) error {
		if l.disk != digest {
			return ErrChanged
		}
		last, err := l.good()
		if err != nil {
			return err
		}
		files, err := config.Read(l.own(goodDir))
		if err != nil || last.Digest == "" || last.Digest == digest || last.SeidVersion != v.SeidVersion {
			l.Verdict = &verdict{Digest: digest, Validation: v}
			return errors.Join(err, l.save(l.record))
		}
		refusal := api.Refusal{SeidVersion: v.SeidVersion, Error: v.Error}
		if l.named() {
			refusal.ConfigHash = l.Current.Hash
		}
		if on, err := config.Read(l.config()); err == nil {
			files = files.Complete(on)
		}
		over, err := files.Digest()
		if err != nil {
			return err
		}
		// All of it reaches the disk together with the intent to put the good files back.
		l.Refused = &refused{Over: over, Refusal: refusal}
		l.Verdict = &verdict{Digest: over, Validation: api.Validation{Valid: true, SeidVersion: last.SeidVersion, Tried: last.Tried}}
		replaced = true
		return l.put(files, last.Hash)
	})
	return replaced, err
}
