package archive

import (
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A recordingKey is all that the tree of a recording depends on.
type recordingKey struct {
	path, name string // in the source; as shown
	v          source.Version
	format     int
	packed     bool
	running    bool         // only of a format that HoldsBack
	segments   segments     // the files of a directory
	beside     nodes.Rights // see archive.beside
}

// isDir reports whether the recording is a directory.
func (k recordingKey) isDir() bool { return k.segments != segments{} }

type containerKey struct {
	recordingKey
	c *container.Kind
}

// listingKey: a listing holds until the directory changes.
type listingKey struct {
	path string
	v    source.Version
}

// A plainInput is what a compressed recording decompresses to, or why it does
// not.
type plainInput struct {
	src  formats.Input
	hurt unpack.DamageFunc // tells of damage of what is around the bytes, and may read them to their end; nil: nothing is
	err  error
}

// A recording is the tree of one version of a recording, opened when it is
// looked into. It is a value, equal to another of the same version.
type recording struct {
	a   *Archive
	key recordingKey
}

// A Recording is one version of a recording. It is a value, equal to another of the same version.
type Recording struct{ r recording }
