//go:build !unix

package formats

import iofs "io/fs"

const nonblock = 0

func fileNumber(iofs.FileInfo) (dev, ino uint64) { return 0, 0 }
