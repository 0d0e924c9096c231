//go:build darwin || freebsd || netbsd

package source

import "syscall"

// inodeTimes returns when an inode was changed last, and when it was made.
func inodeTimes(s *syscall.Stat_t) (changed, born int64) {
	return s.Ctimespec.Nano(), s.Birthtimespec.Nano()
}
