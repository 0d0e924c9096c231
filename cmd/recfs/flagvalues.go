package main

import "github.com/spf13/pflag"

// offered is the annotation of a flag with the values that it is known to take.
const offered = "recfs_values"

// offer tells completion values of a flag.
func offer(flags *pflag.FlagSet, name string, values ...string) {
	flags.Lookup(name).Annotations = map[string][]string{offered: values}
}
