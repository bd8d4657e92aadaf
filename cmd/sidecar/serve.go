package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/sei-operator/sei-operator/internal/objectstore"
	"github.com/sei-operator/sei-operator/internal/objectstore/program"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/configstate"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers"
	"github.com/sei-operator/sei-operator/internal/sidecar/opening"
	"github.com/sei-operator/sei-operator/internal/sidecar/server"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// storeName is not sidecar.db: homes that were used by the public sidecar have
// an SQLite file of that name, which is left alone.
const storeName = "sidecar.bolt"

// A pod has 30 s between the signal and its end. Requests and tasks together
// get 25 s.
const (
	requestGrace = 10 * time.Second
	taskGrace    = 15 * time.Second
)

func serveCommand() *cobra.Command {
	var home string
	var port int
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the task API for the node in this pod",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := portFromEnv(cmd, &port, os.LookupEnv); err != nil {
				return err
			}
			s, err := readSettings(os.LookupEnv, home, port)
			if err != nil {
				return err
			}
			// Children of this process do not need the passphrase.
			if err := os.Unsetenv(envKeyringPassword); err != nil {
				return fmt.Errorf("forgetting %s: %w", envKeyringPassword, err)
			}
			return serve(cmd.Context(), s, newLogger())
		},
	}
	cmd.Flags().StringVar(&home, "home", cmp.Or(os.Getenv(envHome), defaultHome), "the node's home directory ($"+envHome+")")
	addPortFlag(cmd, &port)
	return cmd
}

func serve(ctx context.Context, s settings, log *slog.Logger) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this binary: %w", err)
	}
	objectstore.Register(program.Opener(storageBeside(self)))
	for _, dir := range []string{"config", "data"} {
		if err := os.MkdirAll(filepath.Join(s.Home, dir), 0o750); err != nil {
			return fmt.Errorf("creating the home directory: %w", err)
		}
	}
	// Listening comes first: a process that cannot serve must not run tasks.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer func() { _ = listener.Close() }()

	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	nodeTasks, view := handlers.All(nodeConfig(s, registry))
	rules := conditions(s, log)
	tasks, err := engine.Open(engine.Config{
		Path: filepath.Join(s.Home, storeName), Owner: s.NodeUID, Handlers: nodeTasks, Conditions: rules, Log: log, Registry: registry,
	})
	if err != nil {
		return err
	}
	stand := &opening.Stand{Conditions: rules, Open: tasks.OpenStanding}
	node := newLook(s, tasks, view, log)
	registry.MustRegister(node)
	certificate := certificateOf(s, log)
	handler := server.New(server.Config{
		Tasks: tasks, Auth: authenticator(ctx, s), RequireTLS: certificate != nil, Identity: server.Identity{Node: s.Node, PodUID: s.PodUID},
		NodeID: server.NodeIDFrom(s.Home), Node: node.Node, InSync: node.InSync, Version: buildVersion(), Registry: registry, Log: log,
		Gate: func(address string) api.GateAnswer { return opening.Answer(tasks.Gate(), address) }, Heard: stand.Heard,
	})
	if err := view.StartExport(ctx, tasks.Records()); err != nil {
		log.Warn("going on with the export of results", "error", err.Error())
	}
	go stand.Run(ctx)
	log.Info("listening", "address", listener.Addr().String(), "auth", s.AuthMode, "tls", certificate != nil, "node", s.Node, "version", buildVersion())

	go trimUntil(ctx, log)
	go node.Run(ctx)
	publisher := view.Publisher
	publisher.Look, publisher.Clock, publisher.Log = node.Node, clock.RealClock{}, log
	go publisher.Run(ctx)

	// Tasks are stopped first, so that long polls end and requests can drain.
	stop := context.AfterFunc(ctx, tasks.Stop)
	defer stop()
	serveErr := server.Serve(ctx, listener, handler, certificate, log, requestGrace)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), taskGrace)
	defer cancel()
	return errors.Join(serveErr, tasks.Close(bounded))
}

// certificateOf returns the certificate named in the settings, or nil if there
// is none.
func certificateOf(s settings, log *slog.Logger) server.GetCertificate {
	if s.TLSDir == "" {
		return nil
	}
	return (&server.KeyPair{Read: server.FilesIn(s.TLSDir), Log: log, Clock: clock.RealClock{}}).Get
}

// conditions returns the conditions under which the gate opens.
func conditions(s settings, log *slog.Logger) *opening.Conditions {
	version := seidVersion(s.Seid)
	return &opening.Conditions{
		Home: s.Home, TemplateHash: s.TemplateHash, Clock: clock.RealClock{}, Log: log,
		ConfigHash: func() (string, error) {
			state, err := configstate.Read(s.Home)
			return state.ConfigHash, err
		},
		MayStart: func(ctx context.Context) error {
			v, err := version(ctx)
			if err != nil {
				return err
			}
			return configstate.MayStart(s.Home, v)
		},
	}
}

func authenticator(ctx context.Context, s settings) auth.Authenticator {
	switch s.AuthMode {
	case modeTrustedHeader:
		return auth.TrustedHeader{}
	case modeUnauthenticated:
		return auth.Open{}
	}
	keys := &auth.Cluster{Server: s.APIServer, TokenFile: s.APIToken, CAFile: s.APICA, Clock: clock.RealClock{}}
	// Fetched before the first caller needs them, so that it does not have to
	// wait.
	go func() { _, _, _ = keys.Lookup(ctx, "") }()
	return &auth.Kubernetes{Keys: keys, Audience: s.Audience, Subjects: s.Subjects, Clock: clock.RealClock{}}
}
