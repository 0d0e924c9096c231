//go:build unix

package cache

import (
	"fmt"
	"os"
	"syscall"
)

// alive tells whether there is a process pid.
func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

// untrusted tells why others could have written a file or directory: it is of
// neither this user nor root, or its mode lets them. "" if they could not.
func untrusted(info os.FileInfo) string {
	const groupOrOthers = 0o022
	if mode := info.Mode(); mode.Perm()&groupOrOthers != 0 {
		return fmt.Sprintf("may be written by group or others (mode %04o)", mode.Perm())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if you := os.Geteuid(); ok && stat.Uid != 0 && int(stat.Uid) != you {
		return fmt.Sprintf("belongs to user %d, neither you (%d) nor root", stat.Uid, you)
	}
	return ""
}
