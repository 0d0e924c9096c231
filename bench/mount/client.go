//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
)

// An operation is what the client does and times.
type operation struct {
	name  string
	files int // how many; 0: it reads size bytes
	run   func(root string) error
}

// passes are done each on a fresh mount, so that the first operation of a
// pass finds nothing in the caches of the kernel.
func passes() [][]operation {
	return [][]operation{
		{
			{fmt.Sprintf("list %d names", *small), *small, list("small", *small)},
			{fmt.Sprintf("list %d names", *large), *large, list("large", *large)},
		},
		{{"stat cold", *small, stat("small", *small)}, {"stat warm", *small, stat("small", *small)}},
		{{"read small cold", *small, read("small", *small)}, {"read small warm", *small, read("small", *small)}},
		{{"find -size cold", *small, find("small")}, {"find -size warm", *small, find("small")}},
		{{"grep -r cold", *small, grep("small")}, {"grep -r warm", *small, grep("small")}},
		{{"raw cold", 0, sequential("raw")}, {"raw warm", 0, sequential("raw")}},
	}
}

func fileName(i int) string { return fmt.Sprintf("%08d.json", i) }

// list reads names like ls does, with the buffer of the C library.
func list(dir string, want int) func(string) error {
	return func(root string) error {
		f, err := os.Open(filepath.Join(root, dir))
		if err != nil {
			return err
		}
		defer f.Close()
		buf := make([]byte, 32<<10)
		names := 0
		for {
			n, err := unix.Getdents(int(f.Fd()), buf)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			for b := buf[:n]; len(b) > 0; b = b[binary.NativeEndian.Uint16(b[16:]):] {
				if b[19] != '.' { // linux_dirent64: the name begins at 19
					names++
				}
			}
		}
		if names != want {
			return fmt.Errorf("%s: %d names, want %d", dir, names, want)
		}
		return nil
	}
}

func stat(dir string, files int) func(string) error {
	return func(root string) error {
		fd, err := unix.Open(filepath.Join(root, dir), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for i := range files {
			var st unix.Stat_t
			if err := unix.Fstatat(fd, fileName(i), &st, 0); err != nil {
				return err
			}
			if st.Size != contentSize(i) {
				return fmt.Errorf("file %d: %d bytes, want %d", i, st.Size, contentSize(i))
			}
		}
		return nil
	}
}

func read(dir string, files int) func(string) error {
	return func(root string) error {
		dirfd, err := unix.Open(filepath.Join(root, dir), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(dirfd)
		buf := make([]byte, 4096)
		for i := range files {
			fd, err := unix.Openat(dirfd, fileName(i), unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			n, err := unix.Read(fd, buf)
			unix.Close(fd)
			if err != nil {
				return err
			}
			if int64(n) != contentSize(i) {
				return fmt.Errorf("file %d: %d bytes, want %d", i, n, contentSize(i))
			}
		}
		return nil
	}
}

func grep(dir string) func(string) error {
	return func(root string) error {
		out, err := exec.Command("grep", "-r", `"tick":1234,`, filepath.Join(root, dir)).Output()
		if err == nil && len(out) == 0 {
			err = errors.New("nothing found")
		}
		return err
	}
}

func sequential(name string) func(string) error {
	return func(root string) error {
		f, err := os.Open(filepath.Join(root, name))
		if err != nil {
			return err
		}
		defer f.Close()
		buf := make([]byte, 128<<10)
		for {
			if _, err := f.Read(buf); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}

// find asks for the size of every file, as it comes with the listing.
func find(dir string) func(string) error {
	return func(root string) error {
		out, err := exec.Command("find", filepath.Join(root, dir), "-size", "+100k").Output()
		if err == nil && len(out) > 0 {
			err = errors.New("a file has a wrong size")
		}
		return err
	}
}

// runPass does the operations of a pass and prints their costs in nanoseconds. The server is a
// process, or 0 where there is none.
func runPass(pass []operation, root string, server harness.Process) error {
	used := []func() (time.Duration, error){harness.CPU}
	if server != 0 {
		used = append(used, server.CPU)
	}
	for _, o := range pass {
		cost, err := harness.Measure(func() error { return o.run(root) }, used...)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		fmt.Println(cost.Clock.Nanoseconds(), cost.CPU.Nanoseconds())
	}
	return nil
}
