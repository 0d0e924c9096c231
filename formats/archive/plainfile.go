package archive

import (
	"context"

	"recfs/formats/source"
	"recfs/nodes"
)

// A plainFile is a file of the source that is shown as it is. It is a value,
// equal to another of the same version of the same file.
type plainFile struct {
	files *source.Files
	key   source.FileKey
}

func (f plainFile) Size(context.Context) (int64, error) { return f.key.Version.Size, nil }

func (f plainFile) Open(ctx context.Context) (nodes.Content, error) {
	r := source.NewReader(f.files, f.key)
	if f.key.Version.Size == 0 {
		if err := r.Check(ctx); err != nil {
			return nil, err
		}
	}
	return nodes.SectionContent(r, 0, f.key.Version.Size), nil
}

// Since implements nodes.Grower.
func (f plainFile) Since(earlier nodes.Grower) nodes.Change {
	if e, ok := earlier.(plainFile); ok {
		return changeOf(e.key.Version, f.key.Version)
	}
	return nodes.Unknown
}

var _ nodes.Grower = plainFile{}
