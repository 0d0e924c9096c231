package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"recfs/formats"
	"recfs/formats/recordings"
	"recfs/nodes"
)

var (
	_, _, _, _, _ nodes.Versioned = recording{}, containerDir{}, plainFile{}, childDir{}, childFile{}
	_, _          nodes.Recording = recording{}, childDir{}
)

// Version implements nodes.Versioned: all that the tree of a recording depends on. Of raw that is
// its file alone.
func (r recording) Version(ctx context.Context, below string) (string, error) {
	k, f := r.key, r.format()
	text := append(k.stamp().Append(make([]byte, 0, 256)), f.Name...)
	text = strconv.AppendQuote(text, k.name)
	if first, _, _ := strings.Cut(below, "/"); first == rawName {
		return string(text), nil
	}
	text = strconv.AppendInt(text, recordings.Layout, 10)
	text = strconv.AppendQuote(text, f.Variant)
	text = strconv.AppendBool(text, k.packed)
	text = strconv.AppendBool(text, k.running)
	v := string(k.beside.Append(text))
	if f.Beside == nil {
		return v, nil
	}
	o, err := Recording{r}.Open(ctx)
	if _, ok := errors.AsType[*NotOpenError](err); ok {
		return v, nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %q", v, o.Beside()), nil
}

// VersionOf names the version of what lies in its tree at the path below.
func (r Recording) VersionOf(ctx context.Context, below string) (string, error) {
	return r.r.Version(ctx, below)
}

// Version implements nodes.Versioned for a container and all that is in it.
func (d containerDir) Version(context.Context, string) (string, error) {
	k := d.Target.key
	return fmt.Sprintf("%x %s %q", k.stamp().Append(nil), d.Target.Format(), k.name), nil
}

// Version implements nodes.Versioned.
func (f plainFile) Version(context.Context, string) (string, error) {
	return hex.EncodeToString(f.key.Version.Append(make([]byte, 0, formats.StampSize))), nil
}

// Version implements nodes.Versioned: that of the recording, or of the container and what is there
// in it.
func (c child) Version(ctx context.Context, below string) (string, error) {
	top, err := c.top.(nodes.Versioned).Version(ctx, path.Join(c.path, below))
	if err != nil || c.top.deep() {
		return top, err
	}
	e, err := c.entry(ctx)
	inner, ok := e.Dir.(nodes.Versioned)
	if !ok {
		inner, ok = e.File.(nodes.Versioned)
	}
	if err != nil || !ok {
		return top, err
	}
	v, err := inner.Version(ctx, below)
	return top + v, err
}

// Version implements nodes.Versioned.
func (d childDir) Version(ctx context.Context, below string) (string, error) {
	return d.Target.Version(ctx, below)
}

// IsPart tells [nodes.IsWhole].
func (d childDir) IsPart() bool { return d.Target.top.deep() || d.Target.plain }

// IsRecording tells [nodes.IsRecording].
func (d childDir) IsRecording() bool { return d.Target.whole }

// Tree implements nodes.Recording.
func (d childDir) Tree(ctx context.Context) (nodes.Dir, error) {
	e, err := d.Target.entry(ctx)
	if err != nil {
		return nil, err
	}
	if r, ok := e.Dir.(nodes.Recording); ok {
		return r.Tree(ctx)
	}
	return nodes.Resolve(ctx, e.Dir)
}

// IsRecording tells [nodes.IsRecording].
func (r recording) IsRecording() bool { return true }

// Version implements nodes.Versioned.
func (f childFile) Version(ctx context.Context, _ string) (string, error) {
	return f.Target.Version(ctx, "")
}
