package hcrp

import (
	"recfs/formats/internal/jsonenc"
)

// begin makes room for an event at the end of list and lets d fill it.
func (d *values) begin(list []event, def *eventDef) []event {
	list = append(list, event{def: def, text: span{start: uint32(len(d.out))}})
	d.ev = &list[len(list)-1]
	return list
}

// fields decodes the payload of the event and appends the whole object.
func (d *values) fields() {
	d.out = append(d.out, d.ev.def.head...)
	for i := range d.ev.def.fields {
		d.field(&d.ev.def.fields[i])
	}
	d.end()
}

// unknown appends an event of which only the length is known.
func (d *values) unknown(id int32, payload []byte) {
	*d.ev = event{text: d.ev.text}
	d.out = appendHead(d.out, "event", "unknown", id)
	d.out = append(d.out, `,"length":`...)
	d.out = jsonenc.Int(d.out, len(payload))
	d.out = append(d.out, `,"raw":`...)
	d.out = jsonenc.Hex(d.out, payload)
	d.end()
}

// end ends the object of the event.
func (d *values) end() {
	d.out = append(d.out, '}')
	d.ev.text.end = uint32(len(d.out))
}
