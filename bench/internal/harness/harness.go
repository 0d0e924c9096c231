//go:build linux

// Package harness is what the programs below bench share: how they begin and end, the recfs under
// test and its mounts, and what a process uses.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Main parses the flags and runs the program bench/NAME, which a signal interrupts. It looks at the
// recfs of -recfs, or one that is built now, and has a directory that is removed. An error is
// printed and gives exit code 1.
func Main(name string, run func(ctx context.Context, dir, recfs string) error) {
	binary := flag.String("recfs", "", "the program to look at (default: ./cmd/recfs, built now)")
	parent := flag.String("dir", "", "where everything is made (default: the system's temporary directory)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal is not waited for
	err := InTemp(*parent, func(dir string) error {
		recfs, err := Recfs(ctx, *binary, dir)
		if err != nil {
			return err
		}
		return run(ctx, dir, recfs)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench/%s: %v\n", name, err)
		os.Exit(1)
	}
}

// InTemp does work with a new directory in parent, "" for the one of the system, and removes it.
func InTemp(parent string, work func(dir string) error) (err error) {
	dir, err := os.MkdirTemp(parent, "recfs-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return work(dir)
}

// Recfs returns the path of the program under test: binary, or else one that it builds in dir.
func Recfs(ctx context.Context, binary, dir string) (string, error) {
	if binary != "" {
		return filepath.Abs(binary)
	}
	out := filepath.Join(dir, "recfs")
	return out, Command(ctx, "go", "build", "-ldflags=-s -w", "-o", out, "./cmd/recfs")
}

// Command runs a program whose output does not matter.
func Command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Create makes a file, and its directory where that is missing, of what write writes.
func Create(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// ReadFile reads a file to its end and returns its length. The system gets requests of 1 MiB.
func ReadFile(name string) (int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	// Without their other methods, which would choose a size of their own.
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
}
