package nethack

import "recfs/formats/internal/wire"

// append reads a thing again, without what it has, and appends it as it is shown. It is not ok if the thing is of
// another length now.
func (p *part) append(dst, save []byte, role int32) (doc []byte, ok bool) {
	w := levelWalk{Cursor: wire.NewCursor(name, save[p.start:p.end], 0), role: role, keep: p.shown}
	list := false
	switch p.kind {
	case trapped:
		t := w.trap()
		dst = t.appendJSON(dst)
	case living:
		m := w.monster()
		if list = m.carries; p.shown {
			dst = m.appendJSON(dst)
		}
	default:
		o := w.object()
		if list = o.filled; p.shown {
			dst = o.appendAs(p.kind, dst)
		}
	}
	return dst, w.Err() == nil && w.Len() == 0 && list == p.list
}

// appendAs appends an object as it is shown where it is.
func (o *object) appendAs(kind partKind, dst []byte) []byte {
	switch kind {
	case carried:
		return o.appendCarried(dst)
	case lying, buried:
		o.buried = kind == buried
		return o.appendLying(dst)
	}
	return o.appendHeld(dst)
}
