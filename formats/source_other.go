//go:build !unix

package formats

import iofs "io/fs"

const nonblock = 0

// systemVersion knows no inodes here, so that a file in another state counts
// as another file.
func systemVersion(info iofs.FileInfo) version { return plainVersion(info) }
