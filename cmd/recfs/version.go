package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// versionInfo says which build this is.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// version reads what the go command wrote into the program.
func version() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

var versionCommand = command{
	name:    "version",
	summary: "Print the version",
	run:     runVersion,
}

func runVersion(flags *pflag.FlagSet) runFunc {
	asJSON := flags.Bool("json", false, "print JSON")
	return func(_ context.Context, e *env, _ []string) error {
		v := version()
		if *asJSON {
			return json.NewEncoder(e.stdout).Encode(v)
		}
		_, err := fmt.Fprintf(e.stdout, "recfs %s %s %s\n", v.Version, v.Go, v.Platform)
		return err
	}
}
