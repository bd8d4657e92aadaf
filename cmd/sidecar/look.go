package main

import (
	"log/slog"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
	"github.com/sei-operator/sei-operator/internal/sidecar/look"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// newLook puts together what the sidecar needs to look at its node. A record that cannot be read
// leaves its part of the document empty, and the log says why.
func newLook(s settings, tasks *engine.Engine, view handlers.View, log *slog.Logger) *look.Look {
	record := func() supervision.Record {
		r, err := supervision.Read(s.Home)
		if err != nil {
			log.Warn("reading the process record", "error", err)
		}
		return r
	}
	return look.New(look.Config{
		Home: s.Home, RPC: view.RPC, Draining: view.Draining, Gate: tasks.Gate, ResultExport: view.ResultExport,
		Seid: func() api.Seid { return record().Seid(time.Now()) },
		Configuration: func() look.Configuration {
			state, err := configstate.Read(s.Home)
			if err != nil {
				log.Warn("reading the state of the configuration", "error", err)
			}
			return look.Configuration{ConfigHash: state.ConfigHash, Validation: state.Validation, Refused: state.Refused}
		},
		RestartDue: func(inSync bool) []string {
			due, err := configstate.RestartDue(s.Home, inSync)
			if err != nil {
				log.Warn("comparing the configuration with that of the process", "error", err)
			}
			return due
		},
		ConsensusAddress: func() (string, bool) {
			key := record().Key
			return key.Address, key.Address != "" || key.Error != ""
		},
		Published: func() *api.Published {
			published, err := view.Publisher.Published()
			if err != nil {
				log.Warn("reading what was published", "error", err)
			}
			return published
		},
		Version: seidVersion(s.Seid), Log: log,
	})
}
