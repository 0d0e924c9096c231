package views

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"recfs/formats/internal/jsonenc"
)

// A List is a JSON document with a long list that is made part by part.
type List struct {
	// Document returns the value of the document, in which the list is empty. Key is the key of the
	// list.
	Document func(context.Context) (any, error)
	Key      string
	Flat     bool // the list is on one line, as a list of plain values is

	// Append appends the elements of one of N parts. Before each, the first among them, it appends
	// [NextElement], or [NextValue] if the list is flat.
	N      int
	Append func(ctx context.Context, b []byte, part int) ([]byte, error)

	// More are further long lists of the document, in its order. Only their Key, Flat, N and Append
	// count.
	More []List

	Cost, Claim int64 // as those of a Text
}

// What stands before an element of a list.
const (
	NextElement = ",\n    "
	NextValue   = ", "
)

// AppendElement appends an element of a list that is not flat.
func AppendElement(b []byte, element any) ([]byte, error) {
	buf := bytes.NewBuffer(append(b, NextElement...))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(element)
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), err
}

// Elements returns a long list of n elements, inPart of which are in a part. add appends those from
// first to before end.
func Elements(key string, n, inPart int, add func(ctx context.Context, b []byte, first, end int) ([]byte, error)) List {
	return List{Key: key, N: (n + inPart - 1) / inPart, Append: func(ctx context.Context, b []byte, part int) ([]byte, error) {
		return add(ctx, b, part*inPart, min(n, (part+1)*inPart))
	}}
}

// Text returns the document as a text: what is before the list, its parts, and what is after it.
func (l *List) Text() *Text {
	lists, n := append([]List{*l}, l.More...), 1
	for i := range lists {
		n += lists[i].N + 1
	}
	return &Text{N: n, Cost: l.Cost, Claim: l.Claim, Make: func(ctx context.Context, i int, at any) (Part, error) {
		if i == 0 {
			return l.head(ctx)
		}
		k := 0
		for i--; i > lists[k].N; k++ {
			i -= lists[k].N + 1
		}
		if i < lists[k].N {
			return lists[k].part(ctx, i, at.(listPlace))
		}
		return lists[k].tail(at.(listPlace), lists[k+1:]), ctx.Err()
	}}
}

// A listPlace is the place at which a part of a list begins.
type listPlace struct {
	rest    []byte // of the document
	element bool   // there are elements before
}

// head makes the document and cuts it in the first list.
func (l *List) head(ctx context.Context) (Part, error) {
	value, err := l.Document(ctx)
	if err != nil {
		return Part{}, err
	}
	doc, err := jsonenc.MarshalIndented(value)
	if err != nil {
		return Part{}, err
	}
	return l.cut(nil, doc), nil
}

// cut returns the part of a document up to the place of the elements of the list. before is what
// precedes that part. No string in a document looks like a key.
func (l *List) cut(before, doc []byte) Part {
	key := fmt.Appendf(nil, " %q: [", l.Key)
	at := bytes.Index(doc, key) + len(key)
	return Part{Bytes: append(before, doc[:at:at]...), Next: listPlace{rest: doc[at:]}}
}

// part makes some elements.
func (l *List) part(ctx context.Context, i int, place listPlace) (Part, error) {
	b, err := l.Append(ctx, nil, i)
	if err != nil {
		return Part{}, err
	}
	if !place.element && len(b) > 0 {
		place.element = true
		if b = b[len(","):]; l.Flat {
			b = b[len(NextValue)-len(","):]
		}
	}
	return Part{Bytes: b, Next: place}, nil
}

// tail returns what is after the elements, up to those of the next list.
func (l *List) tail(at listPlace, next []List) Part {
	var end []byte
	if !l.Flat && at.element {
		end = []byte("\n  ")
	}
	if len(next) > 0 {
		return next[0].cut(end, at.rest)
	}
	return Part{Bytes: append(end, at.rest...)}
}
