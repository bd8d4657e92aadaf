package gate

import (
	"encoding/json"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// judge turns the end of a command into an error.
func judge(e end, okExit []int) error {
	job := len(okExit) > 0
	switch {
	case job && e.asked && e.code == 0:
		return &ExitError{Code: 128 + int(syscall.SIGTERM)} // it ended well, but not by itself
	case job && !e.asked && slices.Contains(okExit, e.code), e.code == 0:
		return nil
	}
	return &ExitError{Code: e.code}
}

// explain says why seid ended.
func (c *child) explain(e end) *api.Exit {
	said := c.output.finish()
	exit := &api.Exit{At: c.now().UTC(), Code: e.code, Reason: api.ExitCrash, Message: said.message(), Divergence: said.divergence}
	if e.signal != 0 {
		exit.Signal = unix.SignalName(e.signal)
	}
	if reason, upgrade := c.wrongBinary(e, said); upgrade != nil {
		exit.Reason, exit.Upgrade = reason, upgrade
		return exit
	}
	clean := e.code == 0 || e.signal == syscall.SIGTERM || e.signal == syscall.SIGINT
	switch {
	case said.noSpace && !clean:
		exit.Reason = api.ExitOutOfDisk
	case said.halted:
		exit.Reason, exit.Message = api.ExitHaltHeight, ""
	// A SIGTERM that did not come through the gate was somebody's wish too.
	case clean, e.asked && said.panicLine == "":
		exit.Reason, exit.Message = api.ExitStopped, ""
	case e.signal == syscall.SIGKILL && exit.Message == "":
		exit.Message = "it was killed, which is how the kernel ends a process that uses too much memory"
	}
	return exit
}

// wrongBinary is the upgrade because of which seid does not run on its state; nil when that is not
// the reason.
func (c *child) wrongBinary(e end, said findings) (api.ExitReason, *api.Upgrade) {
	switch {
	case said.handlerMissing != "":
		return api.ExitUpgradeNeeded, &api.Upgrade{Name: said.handlerMissing}
	case said.tooEarly != "":
		return api.ExitTooEarly, &api.Upgrade{Name: said.tooEarly}
	}
	return api.ExitUpgradeNeeded, c.neededUpgrade(e, said)
}

// neededUpgrade is the upgrade that seid has ended for. It says so itself, and leaves a file
// for whoever starts the next binary.
func (c *child) neededUpgrade(e end, said findings) *api.Upgrade {
	left := c.upgradeInfo()
	switch {
	case said.upgrade != nil && left != nil && left.Name == said.upgrade.Name:
		return left
	case said.upgrade != nil:
		return said.upgrade
	case left != nil && e.code != 0 && !e.asked:
		return left
	}
	return nil
}

// upgradeInfo reads the file that seid leaves for an upgrade, if this process did.
func (c *child) upgradeInfo() *api.Upgrade {
	if c.Home == "" {
		return nil
	}
	path := home.Dir(c.Home).Path("data", "upgrade-info.json")
	info, err := os.Stat(path)
	if err != nil || info.ModTime().Before(c.started.Add(-fileClock)) || info.Size() > maxUpgradeInfo {
		return nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // in the home we were given
	if err != nil {
		return nil
	}
	var upgrade struct {
		Name   string `json:"name"`
		Height int64  `json:"height"`
		Info   string `json:"info"`
	}
	if json.Unmarshal(data, &upgrade) != nil || upgrade.Name == "" {
		return nil
	}
	return &api.Upgrade{Name: upgrade.Name, Height: upgrade.Height, Info: upgrade.Info}
}

// fileClock is by how much the times of files may lag behind the clock.
const fileClock = time.Second

// maxUpgradeInfo bounds the file: its text is written by whoever proposed the upgrade.
const maxUpgradeInfo = 64 << 10
