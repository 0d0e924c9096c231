// Package container lists what tar and zip archives hold, without reading more than that takes, and
// shows it as a source.Tree whose list may come and go.
package container

import (
	"context"
	"fmt"
	"path"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
)

// A Kind is a kind of file that holds files.
type Kind struct {
	Name string // as in errors and logs
	list func(ctx context.Context, src formats.Input, w Work) (*Members, error)
	open func(ctx context.Context, src formats.Input, k source.FileKey, m *Members, f member, u *unpack.Unpacker) (Content, error)
}

// Work is what it takes to list a container.
type Work struct {
	Limit  int64 // of the memory that the list may take
	Unpack *unpack.Unpacker

	// Look reports whether the first bytes of a file of that name will be asked for; nil: of none.
	Look func(name string) bool

	held *cache.Held
}

// List returns the list of a container. It does not panic.
func (k *Kind) List(ctx context.Context, src formats.Input, w Work) (m *Members, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &formats.Error{Format: k.Name, Offset: 0, Err: fmt.Errorf("internal error: %v", p)}
		}
	}()
	if w.held, err = cache.Charge(ctx, 0); err != nil {
		return nil, err
	}
	defer w.held.Free()
	return k.list(ctx, src, w)
}

const (
	maxMemberPath = 4096 // bytes in a path in a container, and kept of a target of a link: PATH_MAX of Linux
	maxMemberName = 255  // bytes in a part of it: NAME_MAX
)

// memberPath returns where a member of that name is shown: inside, whatever
// the name says; "" if nowhere. "/etc/x", "../../etc/x" and "./etc//x" are all
// etc/x, as unpacking programs have it.
func memberPath(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if len(name) > maxMemberPath || strings.Contains(name, "\x00") {
		return ""
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxMemberName {
			return ""
		}
	}
	return name
}
