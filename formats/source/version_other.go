//go:build !unix

package source

import (
	iofs "io/fs"

	"recfs/nodes"
)

const nonblock = 0

// systemVersion knows no inodes here, so that a file in another state counts
// as another file.
func systemVersion(info iofs.FileInfo) Version { return plainVersion(info) }

// rightsOf knows no rights here.
func rightsOf(iofs.FileInfo) nodes.Rights { return nodes.Rights{} }
