package house

import (
	"flag"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var systems = flag.String("systems", "", "check the types of the program for these systems, as windows/amd64,linux/386")

// TestSystems holds that the program can be built for systems without FUSE. To check the types
// takes a tenth of the time of compiling.
func TestSystems(t *testing.T) {
	if *systems == "" {
		t.Skip("no -systems")
	}
	for system := range strings.SplitSeq(*systems, ",") {
		t.Run(system, func(t *testing.T) {
			goos, goarch, _ := strings.Cut(system, "/")
			loaded, err := packages.Load(&packages.Config{
				Dir:  "../..",
				Env:  append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
				Mode: packages.LoadAllSyntax,
			}, "./cmd/recfs")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(loaded, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}
