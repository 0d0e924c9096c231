// Package container lists what tar and zip archives hold, without reading more than that takes, and
// shows it as an io/fs file system whose list may come and go.
package container

import (
	"context"
	"fmt"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A Kind is a kind of file that holds files.
type Kind struct {
	Name string // as in errors and logs
	list func(ctx context.Context, src formats.Input, w Work) (*Members, error)
	open func(ctx context.Context, src formats.Input, v source.Version, m *Members, f member, u *unpack.Unpacker) (nodes.ReaderAt, error)
}

// Work is what it takes to list a container.
type Work struct {
	Limit  int64       // of the memory that the list may take
	Room   *cache.Room // in which it counts while it is made
	Unpack *unpack.Unpacker
}

// KindOf returns what kind of container a file of that name is, nil if it is
// none, and whether it is compressed as a whole.
func KindOf(name string) (k *Kind, packed bool) {
	if stem, ok := strings.CutSuffix(name, ".zip"); ok && stem != "" {
		return Zip, false
	}
	if stem, ok := strings.CutSuffix(name, ".tgz"); ok && stem != "" {
		return Tar, true
	}
	for _, ext := range unpack.Extensions {
		if inner, ok := strings.CutSuffix(name, ext); ok {
			name, packed = inner, true
			break
		}
	}
	if stem, ok := strings.CutSuffix(name, ".tar"); ok && stem != "" {
		return Tar, packed
	}
	return nil, false
}

// List returns the list of a container. It does not panic.
func (k *Kind) List(ctx context.Context, src formats.Input, w Work) (m *Members, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &formats.Error{Format: k.Name, Offset: 0, Err: fmt.Errorf("internal error: %v", p)}
		}
	}()
	return k.list(ctx, src, w)
}
