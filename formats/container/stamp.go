package container

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"recfs/formats"
)

// stampAt returns the stamp of a member of that size: what a container says of its members can be
// anything, so all that is known of the container is part of it, and the place there.
func stampAt(container formats.Stamp, at, size int64) formats.Stamp {
	place := binary.LittleEndian.AppendUint64(container.Append(nil), uint64(at))
	return formats.Stamp{Size: size, Changed: container.Changed, Born: container.Born, Inode: xxhash.Sum64(place)}
}
