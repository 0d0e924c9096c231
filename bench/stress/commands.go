//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"recfs/bench/internal/harness"
)

// commands runs recfs on the recordings of one round.
type commands struct {
	recfs string
	cache string
	peak  map[string]int // KiB resident, by command
}

// An outcome is how a command ended.
type outcome struct {
	stdout, stderr []byte
	code           int // 0, 1, or -1 for all others
	why            string
}

// command runs a command; after interrupt, if that is not 0, it gets a signal.
func (c *commands) command(ctx context.Context, interrupt time.Duration, name string, args ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.recfs, append([]string{
		name, "--cache-dir", c.cache, "--cache-mem", fmt.Sprintf("%dMiB", budget(smallBudget)),
	}, args...)...)
	// Who hangs says where.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Start()
	if err == nil && interrupt > 0 {
		signal := []os.Signal{os.Interrupt, syscall.SIGTERM}[rand.IntN(2)]
		timer := time.AfterFunc(interrupt, func() { _ = cmd.Process.Signal(signal) })
		defer timer.Stop()
	}
	if err == nil {
		stop := c.watch(name, harness.Process(cmd.Process.Pid))
		err = cmd.Wait()
		stop()
	}
	o := outcome{stdout: stdout.Bytes(), stderr: stderr.Bytes()}
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		o.code = 1
	case ctx.Err() != nil:
		o.code, o.why = -1, "does not end"
	default:
		o.code, o.why = -1, err.Error()
	}
	return o
}

// watch looks at the peak memory of a process until stop. What the system tells of it at its end
// counts this program's own memory, of which the process is a fork.
func (c *commands) watch(name string, p harness.Process) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				if kib, err := p.Number("status", "VmHWM"); err == nil {
					c.peak[name] = max(c.peak[name], kib)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// panicked returns what is wrong with what a process wrote: a panic, also one that was caught.
func panicked(text []byte) string {
	for line := range strings.Lines(string(text)) {
		for _, word := range []string{"panic", "internal error", "fatal error", "goroutine "} {
			if strings.Contains(line, word) {
				return strings.TrimSpace(line[:min(len(line), 300)])
			}
		}
	}
	return ""
}

// mounted does work on a mount of source, and returns what the mount logged.
func (c *commands) mounted(ctx context.Context, source, mnt, log string, work func(*harness.Daemon)) (err error) {
	p := harness.Program{
		Binary: c.recfs, Cache: c.cache, Flags: []string{"--cache-mem", fmt.Sprintf("%dMiB", budget(smallBudget)), "--log-file", log},
	}
	d, err := p.Start(ctx, source, mnt)
	if err != nil {
		return err
	}
	work(d)
	kib, err := d.Number("status", "VmHWM")
	c.peak["mount"] = max(c.peak["mount"], kib)
	return errors.Join(err, d.Stop())
}
