package trial

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/seid/config"
)

// TestMain lets this binary be the chain binary of its own tests.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_SEID") == "" {
		os.Exit(m.Run())
	}
	os.Exit(fakeSeid(os.Args[1:]))
}

// fakeSeid does what proxy-app in config.toml says.
func fakeSeid(args []string) int {
	home := args[indexOf(args, "--home")+1]
	if args[0] != "start" {
		for _, name := range templateFiles {
			_ = os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o750)
			_ = os.WriteFile(filepath.Join(home, name), []byte(args[0]), 0o600)
		}
		return 0
	}
	files, err := config.Read(filepath.Join(home, "config"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	note(filepath.Join(home, "..", "..", "starts"), "start\n")
	role, _ := files.Config["proxy-app"].(string)
	switch role {
	case "panic":
		fmt.Fprintln(os.Stderr, "panic: no such thing\n\ngoroutine 1 [running]:\nmain.main()")
		return 2
	case "error":
		fmt.Println("Error: bad thing\nUsage:\n  seid start [flags]\n\nGlobal Flags:\n  --x")
		return 1
	case "quiet":
		return 0
	case "full":
		fmt.Println("Error: writing: no space left on device")
		return 1
	case "oom":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour) //nolint:forbidigo // until the signal arrives
	case "terminated":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Hour) //nolint:forbidigo // until the signal arrives
	case "taken": // the first time
		if data, _ := os.ReadFile(filepath.Join(home, "..", "..", "starts")); strings.Count(string(data), "start") == 1 {
			fmt.Println("Error: listen tcp 127.0.0.1:1: bind: address already in use")
			return 1
		}
	case "hang":
		time.Sleep(time.Hour) //nolint:forbidigo // it plays a process that hangs
	}
	address, _ := files.App["grpc"].(map[string]any)["address"].(string)
	if _, err := net.Listen("tcp", address); err != nil {
		fmt.Println("Error:", err)
		return 1
	}
	time.Sleep(time.Hour) //nolint:forbidigo // it plays a node that runs
	return 0
}

func indexOf(args []string, want string) int {
	for i, a := range args {
		if a == want {
			return i
		}
	}
	return -1
}

func note(path, text string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
}

// node is a home and a chain binary.
type node struct {
	*testing.T
	home string
	argv []string
}

func newNode(t *testing.T) node {
	t.Helper()
	n := node{t, t.TempDir(), []string{filepath.Join(t.TempDir(), "seid"), "start", "--home", "ignored"}}
	script := fmt.Sprintf("#!/bin/sh\nFAKE_SEID=1 exec %s \"$@\"\n", os.Args[0])
	if err := os.WriteFile(n.argv[0], []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	n.write("up")
	return n
}

func role(t *testing.T, role string) config.Files {
	t.Helper()
	files, err := config.Parse(map[config.FileName][]byte{
		config.ConfigToml: []byte("mode = 'full'\nproxy-app = '" + role + "'\n[p2p]\nladdr = 'tcp://0.0.0.0:26656'\n"), config.AppToml: []byte("[grpc]\nenable = true\naddress = '0.0.0.0:9090'\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (n node) write(name string) {
	n.Helper()
	dir := filepath.Join(n.home, "config")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		n.Fatal(err)
	}
	if err := config.Write(dir, role(n.T, name)); err != nil {
		n.Fatal(err)
	}
}

func (n node) starts() int {
	data, _ := os.ReadFile(filepath.Join(n.home, "starts"))
	return strings.Count(string(data), "start")
}
