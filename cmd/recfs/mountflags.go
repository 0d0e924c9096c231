package main

import (
	"log/slog"
	"math"
	"time"

	"github.com/spf13/pflag"

	"recfs/fs"
)

// mountFlags are the flags of mount.
type mountFlags struct {
	*archiveFlags
	foreground  bool
	asksToWrite bool // by -o rw, which mount(8) always gives its helpers
	options     []string
	allowOther  bool
	uid, gid    *uint32 // nil: those of each file in the source
	umask       *uint32

	readDirPlus  fs.ReadDirPlus
	entryTimeout *time.Duration

	web    webFlags
	webSet *pflag.FlagSet // of the flags that need --serve
}

func registerMount(flags *pflag.FlagSet) *mountFlags {
	m, owner := &mountFlags{}, upTo(math.MaxUint32, 10, "the number of a user or group")
	flags.StringArrayVarP(&m.options, "options", "o", nil, "`OPTIONS` of mount(8), separated by commas: a_b=c is --a-b=c")
	flags.BoolVar(&m.allowOther, "allow-other", false, "let other users in, as far as owner and mode of each file allow")
	flags.Func("uid", "user `UID` owns all files (default: the owner of each in the source)", optional(&m.uid, owner))
	flags.Func("gid", "group `GID` owns all files (default: the group of each in the source)", optional(&m.gid, owner))
	flags.Func("umask", "take these permission bits from files and directories; `MASK` is octal", optional(&m.umask, upTo(0o777, 8, "an octal number up to 777")))
	flags.Var(&m.readDirPlus, "readdirplus", "send attributes with listings: faster for find and du, slower for a plain ls")
	flags.Func("entry-timeout", "look at a path in the source only once in this `TIME`: faster, but changes show later", optional(&m.entryTimeout, parseSpan))
	flags.StringVar(&m.web.listen, "serve", "", "also serve the tree at `ADDR` over HTTP, as recfs serve does; the flags from here to --access-log say how")
	m.webSet = pflag.NewFlagSet("", pflag.ContinueOnError)
	m.webSet.SortFlags = false
	m.web.register(m.webSet)
	flags.AddFlagSet(m.webSet)
	m.archiveFlags = readFlags(flags)
	m.log.level = slog.LevelWarn
	return m
}
