package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"recfs/formats/outfile"
)

var mountCommand = command{
	name:    "mount",
	args:    "SOURCE MOUNTPOINT",
	summary: "Show an archive as a directory of plain files",
	about: `
SOURCE is a directory, a recording, or the URL of a bucket or a folder of a web server (s3://, https://). The mount is read-only and in the background; the command returns
when it can be used. MOUNTPOINT is made if it is not there, and removed again when the mount ends. If it
has files, they are hidden until then. SIGINT, SIGTERM and SIGHUP end the mount; the process then goes on
for those who still use it, until the next signal.`,
	run: runMount,
}

func runMount(flags *pflag.FlagSet) runFunc {
	foreground := flags.BoolP("foreground", "f", false, "stay in the foreground until the mount ends")
	m := registerMount(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if err := applyMountOptions(flags, m.options); err != nil {
			return err
		}
		m.foreground, m.asksToWrite = *foreground, slices.Contains(strings.Split(strings.Join(m.options, ","), ","), "rw")
		return m.mount(ctx, e, args)
	}
}

// mountHelper is mount under the names by which mount(8) calls it, with the flags of its helpers:
// mount.recfs SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE].
var mountHelper = command{
	name: "mount",
	args: "SOURCE MOUNTPOINT",
	run: func(flags *pflag.FlagSet) runFunc {
		fake := flags.BoolP("fake", "f", false, "do everything but mount")
		flags.BoolP("sloppy", "s", false, "ignored")
		flags.BoolP("no-mtab", "n", false, "ignored")
		flags.BoolP("verbose", "v", false, "ignored")
		flags.StringP("namespace", "N", "", "ignored")
		flags.StringP("types", "t", "", "ignored")
		m := registerMount(flags)
		return func(ctx context.Context, e *env, args []string) error {
			if err := applyMountOptions(flags, m.options); err != nil || *fake {
				return err
			}
			return m.mount(ctx, e, args)
		}
	},
}

// ignoredOptions are the words of mount(8) and fstab that say nothing to a read-only mount that
// serves no devices, or that are meant for others.
var ignoredOptions = []string{
	"rw", "ro", "defaults", "auto", "noauto", "user", "nouser", "users", "nousers", "_netdev", "nofail",
	"dev", "nodev", "suid", "nosuid", "exec", "noexec",
	"atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazyatime",
}

// applyMountOptions sets flags from the comma-separated lists of -o: a_b=c is --a-b=c.
func applyMountOptions(flags *pflag.FlagSet, lists []string) error {
	for _, list := range lists {
		for option := range strings.SplitSeq(list, ",") {
			if err := applyMountOption(flags, option); err != nil {
				return err
			}
		}
	}
	return nil
}

func applyMountOption(flags *pflag.FlagSet, option string) error {
	word, value, hasValue := strings.Cut(option, "=")
	if word == "" || slices.Contains(ignoredOptions, word) || strings.HasPrefix(word, "x-") {
		return nil
	}
	name := strings.ReplaceAll(word, "_", "-")
	flag := flags.Lookup(name)
	if flag == nil || len(name) == 1 || flag.Hidden {
		known := strings.ReplaceAll(strings.Join(flagNames(flags, ""), " "), "-", "_")
		return usagef("mount: unknown mount option %q%s", word, didYouMean(word, strings.Fields(known)))
	}
	if !hasValue {
		if flag.NoOptDefVal == "" {
			return usagef("mount: option %q needs a value", word)
		}
		value = flag.NoOptDefVal
	}
	invalid := (*pflag.InvalidValueError)(nil)
	if err := flags.Set(name, value); errors.As(err, &invalid) {
		return usagef("mount: option %s: %s", word, badValue(invalid))
	}
	return nil
}

// helperNames are those by which mount(8) looks for us, for the types recfs and fuse.recfs.
var helperNames = []string{"mount.recfs", "mount.fuse.recfs"}

var installHelpersCommand = command{
	name:    "install-helpers",
	summary: "Teach mount(8) and fstab(5) the type recfs",
	about: `
Makes the links mount.recfs and mount.fuse.recfs. Then 'mount -t recfs SOURCE MOUNTPOINT' works.`,
	run: runInstallHelpers,
}

func runInstallHelpers(flags *pflag.FlagSet) runFunc {
	dir := flags.String("dir", "/sbin", "put the links into this `DIR`")
	return func(_ context.Context, e *env, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		root, err := outfile.OpenDir(*dir)
		if err != nil {
			return err
		}
		defer root.Close()
		for _, name := range helperNames {
			if err := outfile.Symlink(root, self, name); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s -> %s\n", filepath.Join(*dir, name), self)
		}
		return nil
	}
}
