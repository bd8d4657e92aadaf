package e2e

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// theCluster is what all scenarios share.
var theCluster *cluster

// setupTimeout is generous for building everything from nothing on two cores.
const setupTimeout = 45 * time.Minute

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	log.SetLogger(logr.Discard()) // clients have nothing to say; it is the operator's log that matters
	if why := cannotRun(); why != "" {
		fmt.Println("skipped: " + why)
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	began := time.Now()
	c, err := startCluster(ctx)
	if c != nil && os.Getenv("E2E_KEEP") == "" {
		defer c.down()
	}
	if err != nil {
		theReport.fail("no test was run: " + err.Error())
		if c != nil && c.clients != nil {
			theReport.note("objects and logs", c.collect("setup", operatorNamespace))
		}
		theReport.publish(time.Since(began), time.Since(began))
		return 1
	}
	setup := time.Since(began)
	fmt.Printf("the cluster with the operator is ready after %s\n", setup.Round(time.Second))
	theCluster = c
	code := m.Run()
	if !c.wantNoLeaks() {
		theReport.fail("secrets were found where none belong, or could not be looked for")
		code = 1
	}
	if err := c.writeUses(began); err != nil {
		theReport.fail("the rights that were used are not known: " + err.Error())
		code = 1
	}
	theReport.publish(setup, time.Since(began))
	return code
}

// cannotRun says why there can be no cluster on this machine; empty when there can.
func cannotRun() string {
	switch {
	case runtime.GOOS != "linux":
		return "running pods needs Linux"
	case os.Geteuid() != 0:
		return "running pods needs root"
	}
	return ""
}
