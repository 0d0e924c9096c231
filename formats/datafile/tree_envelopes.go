package datafile

import (
	"context"
	"fmt"

	"recfs/nodes"
)

func envelopePath(o *Envelope) string {
	return fmt.Sprintf("envelopes/%03d%s.json", o.Index, safeSuffix(o.Name.Value))
}

// fields are what map.json and the envelope's own file have in common.
func (o *Envelope) fields() object {
	doc := o.head()
	if o.Short {
		return doc
	}
	doc.set("item_version", o.Version)
	doc.set("channels", o.Channels)
	doc.set("start_point", o.StartPoint)
	doc.set("num_points", o.NumPoints)
	doc.setText("name", o.Name)
	doc.set("synchronized", o.Synchronized)
	return doc
}

func (t *tree) envelopeList(context.Context) (any, error) {
	list := make([]object, 0, len(t.m.Envelopes))
	for i := range t.m.Envelopes {
		o := &t.m.Envelopes[i]
		doc := o.fields()
		if !o.Short {
			doc.set("path", envelopePath(o))
		}
		list = append(list, doc)
	}
	return list, nil
}

func (t *tree) envelopeEntries() []nodes.Entry {
	var entries []nodes.Entry
	for i := range t.m.Envelopes {
		o := &t.m.Envelopes[i]
		if o.Short {
			continue
		}
		entries = append(entries, entry(envelopePath(o), nodes.JSON(func(context.Context) (any, error) {
			points := t.points()
			doc := o.fields()
			doc.set("points", points.Of(o))
			return doc, nil
		})))
	}
	return entries
}
