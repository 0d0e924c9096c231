package archive

import (
	"context"
	"strings"

	"recfs/formats"
	"recfs/formats/source"
)

// contentOf names what is kept on disk of a recording or a container; nil: nothing is.
func (a *Archive) contentOf(k recordingKey) *formats.Content {
	if a.container != nil {
		return a.container.Whole.Part(k.path)
	}
	id := a.tree.ID()
	if a.contents == nil || id == "" {
		return nil
	}
	at := id
	if k.path != "." {
		at = strings.TrimSuffix(id, "/") + "/" + k.path
	}
	return a.contents.Of(at, k.stamp(), func(ctx context.Context) (string, error) { return a.contentKey(ctx, k) })
}

// contentKey reads what tells the content of a recording or a container.
func (a *Archive) contentKey(ctx context.Context, k recordingKey) (string, error) {
	key := func(at string, v source.Version) (string, error) {
		r := source.NewReader(a.openFiles, source.FileKey{Path: at, Version: v})
		return formats.ContentKey(ctx, r, v.Size)
	}
	if !k.isDir() {
		return key(k.path, k.v)
	}
	var files []formats.SegmentKey
	var all []segment
	for f := range k.segments.all {
		all = append(all, f)
		files = append(files, formats.SegmentKey{Name: f.name, Size: f.v.Size})
	}
	for _, i := range [...]int{0, len(all) - 1} {
		var err error
		if files[i].Key, err = key(all[i].at, all[i].v); err != nil {
			return "", err
		}
	}
	return formats.SegmentsKey(files), nil
}
