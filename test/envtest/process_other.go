//go:build unix && !linux

package envtest

import "syscall"

// diesWithParent: only Linux kills children with their parent. Elsewhere a
// test process that is killed leaves its control plane behind.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
