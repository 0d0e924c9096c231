//go:build unix

package cache

import "syscall"

// alive tells whether there is a process pid.
func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
