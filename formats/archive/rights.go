package archive

import (
	"recfs/formats/source"
	"recfs/nodes"
)

// attrOf returns the attributes of a file of the source. What lies in a
// container has no rights of its own.
func attrOf(info source.Info) nodes.Attr {
	return nodes.Attr{Time: info.Time(), Rights: info.Rights}
}

// limited returns r without what a file with rights f does not allow the same people. Of a file
// with another owner or group it cannot be told which people belong to its group: they may do what
// both its group and all others may.
func limited(r, f nodes.Rights) nodes.Rights {
	if !r.Known || !f.Known {
		return r
	}
	both := f.Mode >> 3 & f.Mode & 7
	owner, group, others := both, both, both
	if f.UID == r.UID {
		owner = f.Mode >> 6 & 7
	}
	if f.GID == r.GID {
		group, others = f.Mode>>3&7, f.Mode&7
	}
	r.Mode &= owner<<6 | group<<3 | others
	return r
}

// limitedBy returns r without what is kept from people whom the directory on the way to a file does
// not let through.
func limitedBy(r nodes.Rights, dir source.Info) nodes.Rights {
	f := dir.Rights
	f.Mode = f.Mode & 0o111 * 7
	return limited(r, f)
}

// insideOf returns the rights of a file in a directory for people who may list the directory and
// reach what is in it.
func insideOf(dir source.Info) nodes.Rights {
	r := dir.Rights
	r.Mode &^= 0o111
	return limitedBy(r, dir)
}
