package archive

import (
	"context"

	"recfs/formats/source"
	"recfs/nodes"
)

// A plainFile is a file of the source that is shown as it is. It is a value,
// equal to another of the same version of the same file.
type plainFile struct {
	a    *archive
	path string
	v    source.Version
}

func (f plainFile) Size(context.Context) (int64, error) { return f.v.Size, nil }

func (f plainFile) Open(context.Context) (nodes.Content, error) {
	return nodes.SectionContent(source.NewReader(f.a.openFiles, f.path, f.v), 0, f.v.Size), nil
}
