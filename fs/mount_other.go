//go:build !(linux && (amd64 || arm64 || riscv64))

package fs

import (
	"errors"
	"fmt"
	"runtime"

	"recfs/nodes"
)

// A Server serves one mount. There is none on this platform.
type Server struct{}

// Mount fails: there is no FUSE on this platform.
func Mount(string, nodes.Dir, Options) (*Server, error) { return nil, unsupported() }

// Unmount fails: there is no FUSE on this platform.
func Unmount(string, bool) error { return unsupported() }

// Mounted reports that there is no mount.
func Mounted(string) bool { return false }

// Mounts returns nothing.
func Mounts() []string { return nil }

// Source reports that there is no mount.
func Source(string) (source, at string, ok bool) { return "", "", false }

// Shows returns nothing: this platform does not tell what is mounted where.
func Shows(string, string) string { return "" }

// Wait returns at once.
func (*Server) Wait() {}

// Unmount fails: there is no FUSE on this platform.
func (*Server) Unmount() error { return unsupported() }

// Detached reports that nothing was.
func (*Server) Detached() bool { return false }

// Stats returns nothing.
func (*Server) Stats() Stats { return Stats{} }

func unsupported() error {
	return fmt.Errorf("mounting on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}
