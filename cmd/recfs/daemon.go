//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// A daemon starts as recfs itself, with the same arguments and this variable set. File descriptor 3
// is then a pipe on which it says "ok" or what went wrong.
const (
	daemonVariable = "RECFS_DAEMON"
	daemonFD       = 3
	daemonReady    = "ok"
)

// startDaemon runs this command line again in a session of its own and waits until it is ready or
// has failed. Of what the caller has open the daemon keeps nothing but stderr, and that until it is
// ready: a lock on a descriptor, such as that of flock(1), would be held for as long as the mount.
func startDaemon() error {
	if err := closeAllOnExec(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	child := exec.Cmd{
		Path:        self,
		Args:        os.Args,
		Env:         append(os.Environ(), daemonVariable+"=1"),
		Stderr:      os.Stderr,
		ExtraFiles:  []*os.File{w},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = child.Start()
	w.Close()
	if err != nil {
		return err
	}
	said, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if string(said) == daemonReady {
		return child.Process.Release()
	}
	if len(said) == 0 {
		return fmt.Errorf("the background process ended early: %v", child.Wait())
	}
	_ = child.Wait()
	return errors.New(strings.TrimSpace(string(said)))
}

// closeAllOnExec keeps all descriptors but the standard ones from programs that are started.
func closeAllOnExec() error {
	const first = 3
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// A starter is the process that waits for us to be ready; nil if there is none.
type starter struct{ pipe *os.File }

// findStarter returns who started this process with startDaemon. Called once, before any child is
// started.
func findStarter() *starter {
	if os.Getenv(daemonVariable) == "" {
		return nil
	}
	os.Unsetenv(daemonVariable)
	syscall.CloseOnExec(daemonFD)
	return &starter{os.NewFile(daemonFD, "starter")}
}

// tell lets the starter go: with success if err is nil.
func (s *starter) tell(err error) {
	message := daemonReady
	if err != nil {
		message = plain(err)
	}
	_, _ = io.WriteString(s.pipe, message)
	s.pipe.Close()
}
