package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

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
