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
		tell(closingFile)
		closeDatabases()
	case "loading": // before its handler is there
		ready()
		time.Sleep(time.Hour) //nolint:forbidigo // until the signal arrives
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
	tell(readyFile)
	fmt.Println("ready")
}

// tell makes a file of the node's process.
func tell(file func(home string, pid int) string) {
	if err := os.WriteFile(file(nodeHome(), os.Getpid()), nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// closeDatabases takes until the test lets the node close them, and not forever.
func closeDatabases() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); time.Since(begin) < time.Hour; <-tick.C {
		if _, err := os.Stat(mayCloseFile(nodeHome())); err == nil {
			return
		}
	}
}

// nodeHome is that of the process that plays the node.
func nodeHome() string { return os.Args[len(os.Args)-1] }

// readyFile and closingFile say how far the process is, and mayCloseFile what it waits for. They
// are beside the home: what is in there is for the node.
func readyFile(home string, pid int) string   { return fmt.Sprintf("%s.ready-%d", home, pid) }
func closingFile(home string, pid int) string { return fmt.Sprintf("%s.closing-%d", home, pid) }
func mayCloseFile(home string) string         { return home + ".may-close" }

// letClose lets the node that closes its databases come to an end.
func (f *fixture) letClose() error { return os.WriteFile(mayCloseFile(string(f.home)), nil, 0o600) }

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
