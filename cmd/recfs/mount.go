package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"recfs/fs"
)

// mountFlags are the flags of mount.
type mountFlags struct {
	*archiveFlags
	foreground bool
	options    []string
	allowOther bool
	uid, gid   uint32
	umask      octal

	readDirPlus  fs.ReadDirPlus
	entryTimeout span
}

func registerMount(flags *pflag.FlagSet) *mountFlags {
	m := &mountFlags{}
	flags.StringArrayVarP(&m.options, "options", "o", nil, "`OPTIONS` of mount(8), separated by commas: a_b=c is --a-b=c")
	flags.BoolVar(&m.allowOther, "allow-other", false, "let other users in, as far as owner and permission bits allow")
	flags.Uint32Var(&m.uid, "uid", uint32(max(os.Getuid(), 0)), "user `UID` owns all files (default: the user who mounts)")
	flags.Uint32Var(&m.gid, "gid", uint32(max(os.Getgid(), 0)), "group `GID` owns all files (default: the group of the user who mounts)")
	flags.Lookup("uid").DefValue, flags.Lookup("gid").DefValue = "0", "0" // the usage says it
	flags.Var(&m.umask, "umask", "take these permission bits from files and directories; `MASK` is octal")
	flags.Var(&m.readDirPlus, "readdirplus", "send attributes with listings: faster for find and du, slower for a plain ls")
	flags.Var(&m.entryTimeout, "entry-timeout", "look at a path in the source only once in this `TIME`: faster, but changes show later")
	m.archiveFlags = readFlags(flags)
	m.log.level.Level = slog.LevelWarn
	return m
}

func mountCommand(flags *pflag.FlagSet) runFunc {
	foreground := flags.BoolP("foreground", "f", false, "stay in the foreground until the mount ends")
	m := registerMount(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if err := applyMountOptions(flags, m.options); err != nil {
			return err
		}
		m.foreground = *foreground
		return m.mount(ctx, e, args)
	}
}

// mountHelper is mount under the names by which mount(8) calls it, with the flags of its helpers:
// mount.recfs SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE].
func mountHelper() command {
	return command{name: "mount", args: "SOURCE MOUNTPOINT", run: func(flags *pflag.FlagSet) runFunc {
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
	}}
}
