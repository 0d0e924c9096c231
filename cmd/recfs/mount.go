package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"
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
