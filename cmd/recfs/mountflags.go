package main

import (
	"errors"
	"log/slog"
	"strconv"

	"github.com/spf13/pflag"

	"recfs/fs"
)

// mountFlags are the flags of mount.
type mountFlags struct {
	*archiveFlags
	foreground bool
	options    []string
	allowOther bool
	uid, gid   ownerID
	umask      octal

	readDirPlus  fs.ReadDirPlus
	entryTimeout span
}

func registerMount(flags *pflag.FlagSet) *mountFlags {
	m := &mountFlags{}
	flags.StringArrayVarP(&m.options, "options", "o", nil, "`OPTIONS` of mount(8), separated by commas: a_b=c is --a-b=c")
	flags.BoolVar(&m.allowOther, "allow-other", false, "let other users in, as far as owner and mode of each file allow")
	flags.Var(&m.uid, "uid", "user `UID` owns all files (default: the owner of each in the source)")
	flags.Var(&m.gid, "gid", "group `GID` owns all files (default: the group of each in the source)")
	flags.Var(&m.umask, "umask", "take these permission bits from files and directories; `MASK` is octal")
	flags.Var(&m.readDirPlus, "readdirplus", "send attributes with listings: faster for find and du, slower for a plain ls")
	flags.Var(&m.entryTimeout, "entry-timeout", "look at a path in the source only once in this `TIME`: faster, but changes show later")
	m.archiveFlags = readFlags(flags)
	m.log.level.Level = slog.LevelWarn
	return m
}

// An ownerID is a flag value: the number of a user or group, or none.
type ownerID struct{ id *uint32 }

func (o *ownerID) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return errors.New("not the number of a user or group")
	}
	id := uint32(n)
	o.id = &id
	return nil
}

func (o *ownerID) String() string {
	if o.id == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*o.id), 10)
}

func (o *ownerID) Type() string { return "number" }
