//go:build linux

// Command manifest pins what recfs shows of an archive: a line for each path with kind, permission
// bits, size, modification time, inode number and SHA-256. Two builds that show the same trees give
// the same manifest.
//
//	go run ./bench/manifest make [-recfs /tmp/recfs] SOURCE [FLAGS OF RECFS...] >before.txt
//	go run ./bench/manifest make [-recfs /tmp/recfs] [-short|-all] >before.txt
//	go run ./bench/manifest make -over http|s3|webdav [-recfs /tmp/recfs] SOURCE >served.txt
//	go run ./bench/manifest compare [-ignore mtime,inode] before.txt after.txt
//
// The first make mounts SOURCE, the second a set of its own that it packs in each compression and
// container, and the third has recfs serve SOURCE: it tells no mode, time and inode. Where compare
// finds a difference the exit code is 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"recfs/bench/internal/harness"
)

var (
	most       = flag.Int("most", 32, "make: look into this many files of a directory that holds only files; 0: into all")
	short      = flag.Bool("short", false, "make: the standard set without its large samples")
	all        = flag.Bool("all", false, "make: the standard set with -recordings in every packing")
	testdata   = flag.String("testdata", "testdata", "make: samples of the standard set")
	recordings = flag.String("recordings", "../shared/recordings", "make: further samples, where they are there")
	over       = flag.String("over", "", "make: by a server that is asked by `http`, s3 or webdav, not by a mount")
	ignore     = flag.String("ignore", "", "compare: columns that may differ, with commas between")
)

func main() {
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
		os.Args = append(os.Args[:1], os.Args[2:]...)
	}
	switch command {
	case "make":
		harness.Main("manifest", runMake)
	case "compare":
		flag.Parse()
		if err := runCompare(); err != nil {
			fmt.Fprintln(os.Stderr, "bench/manifest:", err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "bench/manifest: the commands are make and compare; -h after one of them shows its flags")
		os.Exit(1)
	}
}

// runMake prints the manifest of what a mount of the source shows, or of the standard set if there
// is none.
func runMake(ctx context.Context, dir, recfs string) (err error) {
	source, flags := flag.Arg(0), flag.Args()
	if source == "" {
		source, err = standardSet(ctx, dir)
	} else {
		flags = flags[1:]
	}
	if err != nil {
		return err
	}
	s := sampler{most: *most}
	mnt := filepath.Join(dir, "mnt")
	w := &walk{ctx: ctx, root: mnt, sampler: s, turns: make(chan struct{}, runtime.GOMAXPROCS(0)), records: map[string]record{}}
	program := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: flags}
	look := func() error {
		w.catalogue()
		w.start(".")
		w.running.Wait()
		return ctx.Err()
	}
	if *over != "" {
		err = serve(ctx, program, *over, source, func(s *server) error {
			w.server = s
			return look()
		})
	} else {
		_, err = program.Mount(ctx, source, mnt, func(*harness.Daemon) error { return look() })
	}
	if err != nil {
		return err
	}
	return (&manifest{s.rule(), w.records}).write(os.Stdout)
}

func runCompare() error {
	if flag.NArg() != 2 {
		return errors.New("compare takes two manifests")
	}
	ignored, err := parseColumns(*ignore)
	if err != nil {
		return err
	}
	var both [2]*manifest
	for i := range both {
		b, err := os.ReadFile(flag.Arg(i))
		if err != nil {
			return err
		}
		if both[i], err = parseManifest(string(b)); err != nil {
			return fmt.Errorf("%s: %w", flag.Arg(i), err)
		}
	}
	if both[0].rule != both[1].rule {
		return fmt.Errorf("they look into different files: %q and %q", both[0].rule, both[1].rule)
	}
	t := compare(os.Stdout, both[0], both[1], ignored)
	fmt.Println(t)
	if t.differ() {
		return errors.New("they differ")
	}
	return nil
}
