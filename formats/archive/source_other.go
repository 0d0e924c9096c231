//go:build !unix

package archive

import (
	iofs "io/fs"

	"recfs/nodes"
)

const nonblock = 0

// systemVersion knows no inodes here, so that a file in another state counts
// as another file.
func systemVersion(info iofs.FileInfo) version { return plainVersion(info) }

func rightsOf(iofs.FileInfo) nodes.Rights { return nodes.Rights{} }
