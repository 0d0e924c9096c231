package datafile

import (
	"context"

	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
)

// Documents of maps have lists that may be long: a few stored bytes can make gigabytes of them.

// About how many bytes a part of a list has, an int in it, an element, and an element with a name
// that is a data item.
const (
	partText    = 128 << 10
	intText     = 12
	elementText = 256
	namedText   = 8 << 10
)

// documentCost is about what the values of a document without its lists take.
const documentCost = 1 << 10

// document is a document with long lists, in its order. What makes them takes cost bytes.
func document(cost int64, doc any, lists ...views.List) *views.Text {
	l := lists[0]
	l.Document, l.More, l.Cost = func(context.Context) (any, error) { return doc, nil }, lists[1:], documentCost+cost
	return l.Text()
}

// elementList is a list of n elements of about so many bytes.
func elementList(key string, n, size int, element func(ctx context.Context, i int) (any, error)) views.List {
	return views.Elements(key, n, partText/size, func(ctx context.Context, b []byte, i, end int) ([]byte, error) {
		for ; i < end; i++ {
			v, err := element(ctx, i)
			if err == nil {
				b, err = views.AppendElement(b, v)
			}
			if err != nil {
				return b, err
			}
		}
		return b, nil
	})
}

// listOf shows the elements of a list: of a short item no more than what all elements have, to
// which show adds the rest.
func listOf[T any, P elementOf[T]](key string, elements []T, show func(ctx context.Context, doc object, o P) (object, error)) views.List {
	return elementList(key, len(elements), namedText, func(ctx context.Context, i int) (any, error) {
		o := P(&elements[i])
		doc := object{{"index", o.base().Index}, {"id", o.base().ID}}
		if o.base().Short {
			return doc, nil
		}
		return show(ctx, doc, o)
	})
}

// intsList is a list of the ints in b, on one line, or of lists of n each.
func intsList(key string, b []byte, n int) views.List {
	l := views.Elements(key, len(b)/(4*n), max(1, partText/intText/n), func(_ context.Context, text []byte, i, end int) ([]byte, error) {
		for ; i < end; i++ {
			if n == 1 {
				text = jsonenc.AppendInt(append(text, views.NextValue...), int32At(b, 4*int64(i)))
			} else {
				text = appendIntList(append(text, views.NextElement...), toInts(b[4*n*i:4*n*(i+1)]))
			}
		}
		return text, nil
	})
	l.Flat = n == 1
	return l
}
