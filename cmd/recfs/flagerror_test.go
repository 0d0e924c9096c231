package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// What a flag does not take is told in one sentence of ours, whichever flag it is.
func TestFlagErrors(t *testing.T) {
	want := regexp.MustCompile(`^--[a-z-]+: "!" is not [a-z]`)
	for _, cmd := range commands() {
		if cmd.raw {
			continue
		}
		all, _ := cmd.parse()
		all.VisitAll(func(f *pflag.Flag) {
			if strings.HasPrefix(f.Value.Type(), "string") {
				return
			}
			flags, _ := cmd.parse()
			err := flags.Parse([]string{"--" + f.Name + "=!"})
			if err == nil || !want.MatchString(flagError(err, flags)) || strings.Contains(flagError(err, flags), "\n") {
				t.Errorf("%s: %v", cmd.name, err)
			}
		})
	}
}
