package archive

import (
	"path"
	"strings"

	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/unpack"
)

// A naming is what the name of a file tells of it.
type naming struct {
	format    int             // index of the format whose extension it has, or noFormat
	container *container.Kind // if it has the extension of one and of no format; else nil
	packed    bool            // the extension of a compression follows the other
}

// noFormat is the format of a container, and of what is none.
const noFormat = -1

// namings tell what names say.
type namings struct {
	ext        map[string]int // index of the format by extension
	containers bool           // files that hold files are directories
}

func newNamings(list []formats.Format, containers bool) namings {
	n := namings{map[string]int{}, containers}
	for i, f := range list {
		for _, ext := range f.Extensions {
			n.ext[ext] = i
		}
	}
	return n
}

// IsNamed reports whether a file's name is that of a recording of one of the formats, or of a
// container.
func IsNamed(list []formats.Format, name string) bool {
	n := newNamings(list, true).naming(name)
	return n.format != noFormat || n.container != nil
}

// naming returns what a name tells.
func (n namings) naming(name string) naming {
	stem, packed := name, false
	for _, ext := range unpack.Extensions {
		if inner, found := strings.CutSuffix(name, ext); found {
			stem, packed = inner, true
			break
		}
	}
	if ext := path.Ext(stem); ext != stem { // else there is nothing before it
		if format, ok := n.ext[ext]; ok {
			return naming{format: format, packed: packed}
		}
	}
	if !n.containers {
		return naming{format: noFormat}
	}
	kind, packed := container.KindOf(name)
	return naming{noFormat, kind, packed}
}
