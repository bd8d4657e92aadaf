// Package supervise is the first process of the node. It runs in mount, network and process namespaces of its
// own, furnishes them, and keeps the components alive. Nothing it does is visible outside its namespaces, and the
// kernel takes all of it away with this process, however it ends: that is why nothing here cleans up.
package supervise

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/render"
)

// restartDelay keeps a component that cannot start from eating the machine.
const restartDelay = time.Second

// Run furnishes the namespaces and runs the components until the process is killed. It starts when gate ends:
// the outside has given the namespace its link by then.
func Run(ctx context.Context, l layout.Layout, gate io.Reader) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("this command is the first process of the node; cluster up starts it")
	}
	if _, err := io.Copy(io.Discard, gate); err != nil {
		return fmt.Errorf("waiting for the link: %w", err)
	}
	if err := furnishMounts(l); err != nil {
		return err
	}
	if err := furnishNetwork(ctx, l); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the program: %w", err)
	}
	children := newReaper()
	for _, c := range render.Components(l) {
		go keepAlive(ctx, children, l, c, self)
		if err := awaitListening(ctx, c); err != nil {
			return err
		}
	}
	select {}
}

// keepAlive starts a component again whenever it ends.
func keepAlive(ctx context.Context, children *reaper, l layout.Layout, c render.Component, self string) {
	for {
		began := time.Now()
		status, err := runOnce(ctx, children, l, c, self)
		log.Printf("%s ended after %s: %s, %v; starting it again", c.Name, time.Since(began).Round(time.Millisecond), status, err)
		select {
		case <-time.After(restartDelay):
		case <-ctx.Done():
			return
		}
	}
}

func runOnce(ctx context.Context, children *reaper, l layout.Layout, c render.Component, self string) (string, error) {
	out, err := os.OpenFile(l.Log(c.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return "", fmt.Errorf("opening its log: %w", err)
	}
	defer func() { _ = out.Close() }()
	return children.run(command(ctx, c, self, out))
}

// command passes the component's name as the program's, which is how the multi-call binary knows what to be.
func command(ctx context.Context, c render.Component, self string, out *os.File) *exec.Cmd {
	path := self
	if c.Path != "" {
		path = c.Path
	}
	cmd := exec.CommandContext(ctx, path, c.Args...) //nolint:gosec // components are our own list
	cmd.Args[0] = c.Name
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

// awaitListening waits until the component accepts connections, if the next ones need it to.
func awaitListening(ctx context.Context, c render.Component) error {
	if c.Ready == "" {
		return nil
	}
	network := "tcp"
	if strings.HasPrefix(c.Ready, "/") {
		network = "unix"
	}
	ctx, cancel := context.WithTimeout(ctx, layout.StartTimeout)
	defer cancel()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, network, c.Ready)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s to listen on %s: %w", c.Name, c.Ready, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
