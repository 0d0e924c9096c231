package hcrp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"syscall"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// maxSchemaFile bounds a schema beside a recording.
const maxSchemaFile = 1 << 20

// choose returns the schema of a recording beside which none lies, or nil if none fits
// (docs/tree/hcrp.md section 1, "Options").
func (o Options) choose(ctx context.Context, r *Reader) (*Schema, error) {
	own, err := builtin()
	if err != nil {
		return nil, err
	}
	own, given := fitting(own, r.Header), fitting(o.Schemas, r.Header)
	if len(own)+len(given) <= 1 {
		return first(own, given), nil
	}
	most := r.largest()
	held, err := formats.Charge(ctx, most)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	number, body, err := r.firstWithEvent(ctx)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return first(own, given), nil
	}
	var best *Schema
	events := -1
	for i, s := range append(given, own...) {
		c := r.eventFormat(s).decodeIn(account{held: held, n: most}, false, number, r.Entry(number), body)
		if c.short != nil {
			return nil, c.short
		}
		if len(c.problems) == 0 {
			return s, nil
		}
		if i >= len(given) && len(c.events) > events {
			best, events = s, len(c.events)
		}
	}
	return best, nil
}

// schemaWith returns the schema that choose chose before, by its checksum; nil if it chose none. ok
// is false if no schema has that checksum any more.
func (o Options) schemaWith(sum []byte, h *Header) (s *Schema, ok bool) {
	own, err := builtin()
	if err != nil || len(sum) == 0 {
		return nil, err == nil
	}
	for _, s := range fitting(slices.Concat(o.Schemas, own), h) {
		if bytes.Equal(s.sum[:], sum) {
			return s, true
		}
	}
	return nil, false
}

// sidecar returns the schema beside the recording, or nil. A schema that cannot be used is a
// problem of the recording. A *formats.UnreadError means that there may be one that cannot be read
// now.
func sidecar(ctx context.Context, t *Tables, in formats.Input) (found *Schema, err error) {
	if in.Beside == nil {
		return nil, nil
	}
	names := []string{"schema.json"}
	if !t.Dir {
		names = sidecarNames(in.Name)
	}
	var problems problemList
	for i := 0; i < len(names) && found == nil; i++ {
		found, err = readSchema(ctx, in.Beside, names[i], t.Header)
		switch {
		case isUnread(err):
			return nil, err
		case err != nil:
			problems.add(codeSchema, 0, "%s: %v", names[i], err)
		}
	}
	t.Problems = slices.Insert(t.Problems, len(t.Problems)-t.chunkProblems, problems...)
	return found, ctx.Err() // there may be one all the same
}

// readSchema reads a schema for recordings with a header, nil if there is no such file. An error
// that is no *formats.UnreadError says that it cannot be used.
func readSchema(ctx context.Context, dir formats.Folder, name string, h *Header) (*Schema, error) {
	b, err := readBeside(ctx, dir, name, maxSchemaFile)
	switch {
	case errors.Is(err, iofs.ErrPermission):
		return nil, schemaError("%v", iofs.ErrPermission)
	case isAbsent(err):
		return nil, nil
	case isUnread(err):
		return nil, err
	case err != nil:
		return nil, schemaError("%v", err)
	}
	s, err := ParseSchema(b)
	if err == nil && !s.usable(h) {
		return nil, errSchemaLength
	}
	return s, err
}

// sidecarNames returns where the schema of a recording that is a file may lie.
func sidecarNames(name string) []string {
	names := []string{name + ".schema.json"}
	if i := strings.LastIndex(name, extension); i >= 0 {
		names = append(names, name[:i+len(extension)]+".schema.json", name[:i]+".schema.json")
	}
	return slices.Compact(names)
}

// readBeside reads a file beside a recording, of at most so many bytes. A *formats.UnreadError says
// that the file may be there, isAbsent that it is not.
func readBeside(ctx context.Context, dir formats.Folder, name string, most int64) (b []byte, err error) {
	f, err := dir.Open(ctx, name)
	switch {
	case err == formats.ErrNoFile:
		return nil, err
	case err != nil:
	case f.Stamp.Size > most:
		return nil, fmt.Errorf("it is %d bytes long, %d are the most", f.Stamp.Size, most)
	default:
		b, err = f.All(ctx)
	}
	if err != nil && !isAbsent(err) {
		err = &formats.UnreadError{Err: err}
	}
	return b, err
}

// isAbsent reports whether an error says that there is no such file that may be read. Its name may
// also be too long to exist.
func isAbsent(err error) bool {
	for _, absent := range [...]error{
		iofs.ErrNotExist, iofs.ErrPermission, iofs.ErrInvalid, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.ENOTDIR,
	} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

func fitting(list []*Schema, h *Header) (fit []*Schema) {
	for _, s := range list {
		if s.Fits(h) {
			fit = append(fit, s)
		}
	}
	return fit
}

func first(lists ...[]*Schema) *Schema {
	for _, l := range lists {
		if len(l) > 0 {
			return l[0]
		}
	}
	return nil
}

// firstWithEvent returns the first readable chunk that has an event; its body is nil if there is
// none.
func (r *Reader) firstWithEvent(ctx context.Context) (number int, body []byte, err error) {
	for i := range r.Chunks() {
		body, err := r.Body(ctx, i)
		if _, damaged := formats.Coded(err); damaged {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		if hasEvent(r.Header.Layout, r.Entry(i), body) {
			return i, body, nil
		}
	}
	return 0, nil, nil
}

// hasEvent reports whether a record of the body has events. That can be told without a schema.
func hasEvent(l Layout, e Entry, body []byte) bool {
	c := wire.NewCursor(formatName, body, 0)
	if l == Design && e.Snapshot() {
		c.Skip(int(varint(c)))
	}
	for c.Len() > 0 {
		varint(c)
		if c.U16BE() > 0 && c.Err() == nil {
			return true
		}
	}
	return false
}
