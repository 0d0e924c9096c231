package main

import (
	"context"
	_ "embed" // of revision.txt
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"
)

// versionInfo says which build this is.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// release is the version of a package; packaging/build.sh gives it to the linker.
var release string

// archived says of which commit the source is where it was unpacked from git archive, which fills
// in the tag, the day and the commit.
//
//go:embed revision.txt
var archived string

// version reads what the go command or git archive left in the program. A package is called by its
// own version.
func version() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	v.Version, v.Revision = fromArchive(v.Version, archived)
	if info, ok := debug.ReadBuildInfo(); ok {
		if version := info.Main.Version; version != "" && version != "(devel)" {
			v.Version = version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if release != "" {
		v.Version = release
	}
	return v
}

// fromArchive returns the version and commit that git archive filled in, the version otherwise.
func fromArchive(version, filled string) (tag, commit string) {
	words := strings.Fields(filled)
	if strings.HasPrefix(filled, "$") || len(words) < 2 {
		return version, ""
	}
	day, commit := words[len(words)-2], words[len(words)-1]
	if len(words) > 2 {
		return words[0], commit
	}
	return "0.0.0+" + strings.ReplaceAll(day, "-", "") + "." + commit, commit
}

var versionCommand = command{
	name:    "version",
	summary: "Print the version",
	run:     runVersion,
}

func runVersion(flags *pflag.FlagSet) runFunc {
	flags.Bool("json", false, "print JSON")
	return func(_ context.Context, e *env, _ []string) error {
		v := version()
		e.print(v, fmt.Sprintf("recfs %s %s %s\n", v.Version, v.Go, v.Platform))
		return nil
	}
}
