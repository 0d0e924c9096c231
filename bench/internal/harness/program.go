package harness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A Program is a binary of recfs, and what all its commands that read recordings are given.
type Program struct {
	Binary string
	Cache  string   // the directory of --cache-dir
	Flags  []string // further flags
}

// ErrDamaged means that the command told of something that it could not read, and ended with 1.
var ErrDamaged = errors.New("exit code 1")

// Run runs the command name. What it prints goes to stdout, and is thrown away where that is nil.
// Its messages are returned, with ErrDamaged for exit code 1 and another error for all others.
func (p Program) Run(ctx context.Context, stdout io.Writer, name string, args ...string) (messages []byte, err error) {
	return p.exec(ctx, stdout, slices.Concat([]string{name, "--cache-dir", p.Cache}, p.Flags, args))
}

func (p Program) exec(ctx context.Context, stdout io.Writer, line []string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Binary, line...)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return stderr.Bytes(), nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return stderr.Bytes(), ErrDamaged
	}
	return stderr.Bytes(), fmt.Errorf("recfs %s: %w\n%s", line[0], err, bytes.TrimSpace(stderr.Bytes()))
}

// Mounted does work while source is mounted at mnt.
func (p Program) Mounted(ctx context.Context, source, mnt string, work func() error) error {
	if messages, err := p.Run(ctx, nil, "mount", source, mnt); err != nil {
		return fmt.Errorf("mount: %w\n%s", err, messages)
	}
	err := work()
	// The mount must go even when the context has ended.
	messages, umountErr := p.exec(context.WithoutCancel(ctx), nil, []string{"umount", mnt})
	if umountErr != nil {
		umountErr = fmt.Errorf("umount: %w\n%s", umountErr, messages)
	}
	return errors.Join(err, umountErr)
}

// A Daemon is a mount that a process of its own serves.
type Daemon struct {
	Process
	cmd   *exec.Cmd
	ended chan error
}

// Start mounts source on mnt, which it makes, and returns when the mount can be used. The end of
// ctx ends the mount.
func (p Program) Start(ctx context.Context, source, mnt string) (*Daemon, error) {
	line := slices.Concat([]string{"mount", "-f", "--cache-dir", p.Cache}, p.Flags, []string{source, mnt})
	return StartMount(ctx, mnt, p.Binary, line...)
}

// StartMount runs a program that mounts something on mnt, which it makes, and returns when the
// mount can be used. The end of ctx ends the program.
func StartMount(ctx context.Context, mnt, binary string, line ...string) (*Daemon, error) {
	if err := os.MkdirAll(mnt, 0o777); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, line...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &Daemon{Process(cmd.Process.Pid), cmd, make(chan error, 1)}
	go func() { d.ended <- cmd.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-d.ended:
			return nil, fmt.Errorf("the mount ended early: %w", cmp.Or(err, ctx.Err(), errors.New("exit code 0")))
		case <-tick.C:
			if mounted(mnt) {
				return d, nil
			}
		}
	}
}

// mounted reports whether anything is mounted on dir.
func mounted(dir string) bool {
	if real, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(real, filepath.Base(dir))
	}
	table, _ := os.ReadFile("/proc/self/mountinfo")
	return bytes.Contains(table, []byte(" "+dir+" "))
}

// Uses is what counts the processor time of the daemon, for [Measure].
func (d *Daemon) Uses() []func() (time.Duration, error) {
	return []func() (time.Duration, error){d.CPU}
}

// Stop ends the mount and waits for the end of the process.
func (d *Daemon) Stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return d.Wait()
}

// Wait waits for the end of the process.
func (d *Daemon) Wait() error { return <-d.ended }
