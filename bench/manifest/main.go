//go:build unix

// Command manifest pins what recfs shows of an archive: a line for each path with kind, permission
// bits, size, modification time, inode number and SHA-256. Two builds that show the same trees give
// the same manifest.
//
//	go run ./bench/manifest make [-recfs /tmp/recfs] SOURCE [FLAGS OF RECFS...] >before.txt
//	go run ./bench/manifest make [-recfs /tmp/recfs] [-short|-all] >before.txt
//	go run ./bench/manifest compare [-ignore mtime,inode] before.txt after.txt
//
// The first make mounts SOURCE, the second a set of its own that it packs in each compression and
// container. Where compare finds a difference the exit code is 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"recfs/bench/internal/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench/manifest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{""}
	}
	switch args[0] {
	case "make":
		return runMake(ctx, args[1:])
	case "compare":
		return runCompare(args[1:])
	}
	return errors.New("the commands are make and compare; -h after one of them shows its flags")
}

func runMake(ctx context.Context, args []string) error {
	var opt makeOptions
	flags := flag.NewFlagSet("make", flag.ExitOnError)
	binary := harness.RecfsFlag(flags)
	flags.IntVar(&opt.most, "most", 32, "look into this many files of a directory that holds only files")
	full := flags.Bool("full", false, "look into every file")
	flags.BoolVar(&opt.set.short, "short", false, "the standard set without its large samples")
	flags.BoolVar(&opt.set.all, "all", false, "the standard set with -recordings in every packing")
	flags.StringVar(&opt.set.testdata, "testdata", "testdata", "samples of the standard set")
	flags.StringVar(&opt.set.recordings, "recordings", "../shared/recordings", "further samples, where they are there")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opt.binary = *binary
	if *full {
		opt.most = 0
	}
	var more []string
	if flags.NArg() > 0 {
		more = flags.Args()[1:]
	}
	return harness.InTemp("", func(temp string) error { return opt.make(ctx, temp, flags.Arg(0), more) })
}

func runCompare(args []string) error {
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	ignore := flags.String("ignore", "", "columns that may differ, with commas between")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("compare takes two manifests")
	}
	ignored, err := parseColumns(*ignore)
	if err != nil {
		return err
	}
	a, err := readManifest(flags.Arg(0))
	if err != nil {
		return err
	}
	b, err := readManifest(flags.Arg(1))
	if err != nil {
		return err
	}
	if a.rule != b.rule {
		return fmt.Errorf("they look into different files: %q and %q", a.rule, b.rule)
	}
	t := compare(os.Stdout, a, b, ignored)
	fmt.Println(t)
	if t.differ() {
		return errors.New("they differ")
	}
	return nil
}

func readManifest(name string) (*manifest, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}
