//go:build !unix

package formats

import iofs "io/fs"

const nonblock = 0

func inodeOf(iofs.FileInfo) inode { return inode{} }
