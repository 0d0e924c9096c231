package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Program is a binary of recfs, and what all its commands that read recordings are given.
type Program struct {
	Binary    string
	Cache     string        // the directory of --cache-dir
	Flags     []string      // further flags
	Interrupt time.Duration // after which a command gets a signal, if that is not 0
}

// An Outcome is how a command ended.
type Outcome struct {
	Stdout, Stderr []byte
	Code           int   // 0, 1, or -1 for all others
	Err            error // why it is -1
	Peak           int   // KiB resident
}

// Run runs the command name.
func (p Program) Run(ctx context.Context, name string, args ...string) (o Outcome) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Binary, slices.Concat([]string{name, "--cache-dir", p.Cache}, p.Flags, args)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // what hangs says where
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Start()
	if err == nil && p.Interrupt > 0 {
		signal := []os.Signal{os.Interrupt, syscall.SIGTERM}[rand.IntN(2)]
		defer time.AfterFunc(p.Interrupt, func() { _ = cmd.Process.Signal(signal) }).Stop()
	}
	if err == nil {
		peak := Process(cmd.Process.Pid).watch()
		err = cmd.Wait()
		o.Peak = peak()
	}
	o.Stdout, o.Stderr = stdout.Bytes(), stderr.Bytes()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		o.Code = 1
	default:
		o.Code, o.Err = -1, fmt.Errorf("recfs %s: %w\n%s", name, cmp.Or(ctx.Err(), err), bytes.TrimSpace(o.Stderr))
	}
	return o
}

// A Daemon is a mount that a process of its own serves.
type Daemon struct {
	Process
	cmd   *exec.Cmd
	ended chan error
}

// Mount does work while source is mounted on mnt, and returns the most that the mount had resident,
// in KiB.
func (p Program) Mount(ctx context.Context, source, mnt string, work func(*Daemon) error) (peak int, err error) {
	d, err := p.Start(ctx, source, mnt)
	if err != nil {
		return 0, err
	}
	err = work(d)
	peak, peakErr := d.Number("status", "VmHWM")
	return peak, errors.Join(err, peakErr, d.Stop())
}

// Start mounts source on mnt, which it makes, and returns when the mount can be used. The end of
// ctx ends the mount.
func (p Program) Start(ctx context.Context, source, mnt string) (*Daemon, error) {
	line := slices.Concat([]string{"mount", "-f", "--cache-dir", p.Cache}, p.Flags, []string{source, mnt})
	return StartMount(ctx, mnt, p.Binary, line...)
}

// Serve serves source on a free port of this machine, and returns when the address answers. The end
// of ctx ends the server.
func (p Program) Serve(ctx context.Context, source string) (d *Daemon, address string, err error) {
	cmd := command(ctx, p.Binary, slices.Concat([]string{"serve", "--listen=127.0.0.1:0", "--cache-dir", p.Cache}, p.Flags, []string{source}))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, "", err
	}
	address, err = bufio.NewReader(out).ReadString('\n')
	d = &Daemon{Process(cmd.Process.Pid), cmd, make(chan error, 1)}
	go func() { d.ended <- cmd.Wait() }()
	return d, strings.TrimSpace(address), err
}

// command returns a program that runs until it is told to end, or ctx ends.
func command(ctx context.Context, binary string, line []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, line...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = os.Stderr
	return cmd
}

// StartMount runs a program that mounts something on mnt, which it makes, and returns when the
// mount can be used. The end of ctx ends the program.
func StartMount(ctx context.Context, mnt, binary string, line ...string) (*Daemon, error) {
	if err := os.MkdirAll(mnt, 0o777); err != nil {
		return nil, err
	}
	cmd := command(ctx, binary, line)
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

// Stop ends the mount and waits for the end of the process.
func (d *Daemon) Stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return d.Wait()
}

// Wait waits for the end of the process.
func (d *Daemon) Wait() error { return <-d.ended }
