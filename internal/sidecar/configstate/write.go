package configstate

import (
	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// Write makes files the node's configuration, called hash by its author. Without a name
// files that change nothing keep the one they have. What was refused before is forgotten:
// these files are newer.
func Write(home string, files config.Files, hash string) error {
	return change(home, func(l *ledger) error {
		l.Refused = nil
		if hash == "" && l.named() && l.same(files) {
			hash = l.Current.Hash
		}
		return l.put(files, hash)
	})
}

// Amend changes the configuration without making another one of it: the node's own tasks
// set peers or state sync in it, and it is still called what it was.
func Amend(home string, files config.Files) error {
	return change(home, func(l *ledger) error {
		hash := ""
		if l.named() {
			hash = l.Current.Hash
		}
		if l.Refused != nil && l.Refused.Over == l.disk {
			digest, err := files.Digest()
			if err != nil {
				return err
			}
			l.Refused.Over = digest
		}
		return l.put(files, hash)
	})
}

// Refuse records a configuration that was not written because it is not valid. What is on
// disk stays in force.
func Refuse(home string, r api.Refusal) error {
	return change(home, func(l *ledger) error {
		l.Refused = &refused{Over: l.disk, Refusal: r}
		return l.save(l.record)
	})
}

func (l *ledger) named() bool { return l.Current != nil && l.Current.Digest == l.disk }

func (l *ledger) same(files config.Files) bool {
	on, err := config.Read(l.config())
	if err != nil {
		return false
	}
	digest, err := files.Complete(on).Digest()
	return err == nil && digest == l.disk
}
