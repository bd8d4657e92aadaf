package lifecycle_test

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// closing is how long the node "closing" takes to close its databases.
const closing = 600 * time.Millisecond

// TestMain lets a copy of this binary stand in for the node: it looks like
// `seid start --home H` in the process table and reacts to SIGTERM as it is told.
func TestMain(m *testing.M) {
	behaviour := os.Getenv("FAKE_NODE")
	if behaviour == "" {
		os.Exit(m.Run())
	}
	signals := make(chan os.Signal, 1)
	switch behaviour {
	case "polite":
		signal.Notify(signals, syscall.SIGTERM)
		ready()
		<-signals
	case "closing": // as seid does it: the handler is dropped before the databases are closed
		signal.Notify(signals, syscall.SIGTERM)
		ready()
		<-signals
		signal.Reset(syscall.SIGTERM)
		<-time.After(closing)
		fmt.Println("closed")
	case "loading": // before its handler is there
		ready()
		<-time.After(time.Hour)
	case "busy": // loads, and uses its CPU
		ready()
		for begin := time.Now(); time.Since(begin) < time.Hour; {
		}
	case "crashing":
		fmt.Println("panic: no such table")
		os.Exit(2)
	default: // stubborn
		signal.Notify(signals, syscall.SIGTERM)
		ready()
		for range signals {
			fmt.Println("told")
		}
	}
	os.Exit(0)
}

// ready tells the test that the node reacts to signals as it should from now on.
func ready() {
	if err := os.WriteFile(readyFile(os.Args[len(os.Args)-1], os.Getpid()), nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
}

// readyFile is beside the home: what is in there is for the node.
func readyFile(home string, pid int) string { return fmt.Sprintf("%s.ready-%d", home, pid) }

// copyOfThisTest is an executable called seid that plays the node.
func (f *fixture) copyOfThisTest() string {
	f.t.Helper()
	if _, err := os.Stat(f.binary); err == nil {
		return f.binary
	}
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Clean(f.binary), data, 0o700); err != nil {
		f.t.Fatal(err)
	}
	return f.binary
}
