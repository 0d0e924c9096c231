package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// valueCandidates completes the value of a flag, where the last of words is one: after --flag= or a
// word that is a flag with a value.
func valueCandidates(ctx context.Context, flags *pflag.FlagSet, words []string) (out []string, ok bool) {
	before, last := words[len(words)-2], words[len(words)-1]
	lead, value, given := strings.Cut(last, "=")
	flag := flagCalled(flags, before)
	if given && strings.HasPrefix(lead, "--") {
		flag, lead = flagCalled(flags, lead), lead+"="
	} else {
		lead, value = "", last
	}
	if flag == nil || flag.NoOptDefVal != "" && lead == "" {
		return nil, false
	}
	for _, candidate := range flagValues(ctx, flags, flag, value, words[1:]) {
		out = append(out, lead+candidate)
	}
	return out, true
}

// flagCalled returns the flag that a word is, nil if it is none.
func flagCalled(flags *pflag.FlagSet, word string) *pflag.Flag {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		return flags.Lookup(name)
	}
	if len(word) == 2 && word[0] == '-' {
		return flags.ShorthandLookup(word[1:])
	}
	return nil
}

// flagValues returns the values of one of flags that begin with prefix, after args. That one is a
// file or a player is told by the word for it in the usage, and a|b are all that there are.
func flagValues(ctx context.Context, flags *pflag.FlagSet, flag *pflag.Flag, prefix string, args []string) []string {
	out := withPrefix(slices.Clone(flag.Annotations[offered]), prefix)
	switch word, _ := pflag.UnquoteUsage(flag); {
	case word == "FILE":
		out = append(out, pathCandidates(ctx, prefix)...)
	case word == "DIR":
		out = append(out, slices.DeleteFunc(pathCandidates(ctx, prefix), func(name string) bool { return !strings.HasSuffix(name, "/") })...)
	case word == "PLAYER":
		out = append(out, playerCandidates(ctx, args, prefix)...)
	case word == "OPTIONS":
		out = append(out, optionCandidates(flags, prefix)...)
	case strings.Contains(word, "|"):
		out = withPrefix(strings.Split(word, "|"), prefix)
	}
	return out
}

// optionCandidates completes the last of the mount options that flags are, too.
func optionCandidates(flags *pflag.FlagSet, prefix string) (out []string) {
	lead := prefix[:strings.LastIndex(prefix, ",")+1]
	flags.VisitAll(func(f *pflag.Flag) {
		option := lead + strings.ReplaceAll(f.Name, "-", "_")
		if f.NoOptDefVal == "" {
			option += "="
		}
		if f.Shorthand == "" && !f.Hidden && strings.HasPrefix(option, prefix) {
			out = append(out, option)
		}
	})
	return out
}
