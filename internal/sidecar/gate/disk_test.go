package gate

import (
	"syscall"
	"testing"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

func TestRun_OnAFullDisk_StillRecordsTheEnd(t *testing.T) {
	g, _ := gateAt(t, opened)
	if err := syscall.Mount("tmpfs", g.Home, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(g.Home, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	script := "cd " + g.Home + "; head -c 1000000 /dev/zero > filled; echo 'panic: write filled: no space left on device' >&2; exit 2"
	_ = g.Run(t.Context(), []string{"sh", "-c", script})
	if exit := record(t, g).LastExit; exit == nil || exit.Reason != api.ExitOutOfDisk || exit.Code != 2 {
		t.Errorf("recorded %+v, want not nil, Reason %v and Code 2", exit, api.ExitOutOfDisk)
	}
}
