package envtest

import "syscall"

// diesWithParent puts a child into its own process group, so that it can be
// killed with its children, and has the kernel kill it when the test process
// panics, is killed, or runs into its timeout.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
