package views

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"recfs/nodes"
)

// A List is a JSON document one of whose lists is long, and made part by part.
type List struct {
	// Document returns the value of the document, in which the list is empty and the member Key of
	// the outermost object.
	Document func(context.Context) (any, error)
	Key      string
	Flat     bool // the list is on one line, as a list of plain values is

	// Append appends the elements of one of N parts, each behind [NextElement], or [NextValue] in a
	// flat list, the first one as well.
	N      int
	Append func(ctx context.Context, b []byte, part int) ([]byte, error)

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

// Text returns the document as a text: what is before the list, its parts, and what is behind it.
func (l *List) Text() *Text {
	return &Text{N: l.N + 2, Make: l.part, Cost: l.Cost, Claim: l.Claim}
}

// A listPlace is where a part of a list begins.
type listPlace struct {
	tail    []byte // of the document
	element bool   // there are elements before
}

func (l *List) part(ctx context.Context, i int, at any) (Part, error) {
	if i == 0 {
		return l.head(ctx)
	}
	place := at.(listPlace)
	if i > l.N {
		return Part{Bytes: l.tail(place)}, ctx.Err()
	}
	b, err := l.Append(ctx, nil, i-1)
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

// head makes the document and cuts it in the list.
func (l *List) head(ctx context.Context) (Part, error) {
	value, err := l.Document(ctx)
	if err != nil {
		return Part{}, err
	}
	doc, err := nodes.MarshalIndented(value)
	if err != nil {
		return Part{}, err
	}
	key := fmt.Sprintf("\n  %q: [", l.Key)
	at := bytes.Index(doc, []byte(key)) + len(key)
	return Part{Bytes: doc[:at:at], Next: listPlace{tail: doc[at:]}}, nil
}

// tail returns what is behind the elements.
func (l *List) tail(at listPlace) []byte {
	if l.Flat || !at.element {
		return at.tail
	}
	return append([]byte("\n  "), at.tail...)
}
