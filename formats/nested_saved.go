package formats

import "encoding/binary"

// The headers of a tar stand all over it. So that the whole of a large one
// need not be read each time, its list is kept in the disk cache: the version
// of the tar, the number of members, each with its text, and the order; numbers
// are varints, most of them the difference to the member before.

const (
	savedListVersion = 1
	savedListMin     = 1000 // members; less is read faster than this is worth
)

// listName names the list of a container in the disk cache; "": it is not
// kept. The version of a tar in a container says too little to find it by: the
// next container may hold another one of the same size and time.
func (a *archive) listName(k nestedKey) string {
	if a.depth > 0 {
		return ""
	}
	if id := a.sourceID(k.path); a.opt.Disk != nil && id != "" && k.c == tarContainer {
		return id + "/" + k.c.name
	}
	return ""
}

// savedList returns the list of a container that was saved.
func (a *archive) savedList(k nestedKey) *members {
	name := a.listName(k)
	if name == "" {
		return nil
	}
	b, ok := a.opt.Disk.Load(name)
	if !ok {
		return nil
	}
	return decodeList(b, k.versionKey())
}

func (a *archive) saveList(k nestedKey, m *members) {
	if name := a.listName(k); name != "" && m.damage == nil && m.len() >= savedListMin {
		a.opt.Disk.Save(name, encodeList(m, k.versionKey()))
	}
}

func encodeList(m *members, version string) []byte {
	b := make([]byte, 0, m.cost()/2)
	b = append(append(b, savedListVersion, byte(len(version))), version...)
	b = binary.AppendUvarint(b, uint64(m.len()))
	var last member
	for i := range uint32(m.len()) {
		f, text := m.at(i), m.words(i)
		b = append(b, byte(f.kind))
		b = binary.AppendVarint(b, f.at-last.at)
		b = binary.AppendVarint(b, f.size)
		b = binary.AppendVarint(b, f.sec-last.sec)
		b = binary.AppendUvarint(b, uint64(f.nsec))
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
		last = *f
	}
	b = binary.AppendUvarint(b, uint64(len(m.order)))
	place := uint32(0)
	for _, i := range m.order {
		b = binary.AppendVarint(b, int64(i)-int64(place))
		place = i
	}
	return b
}

// decodeList returns the list that encodeList made for a version; nil if the
// bytes are of something else. That they are whole is proved.
func decodeList(b []byte, version string) *members {
	head := string(append([]byte{savedListVersion, byte(len(version))}, version...))
	if len(b) < len(head) || string(b[:len(head)]) != head {
		return nil
	}
	b = b[len(head):]
	unsigned := func() uint64 {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return n
	}
	signed := func() int64 {
		n, size := binary.Varint(b)
		b = b[size:]
		return n
	}
	m := new(members)
	var last member
	for range unsigned() {
		f := member{kind: memberKind(unsigned())}
		f.at, f.size, f.sec = last.at+signed(), signed(), last.sec+signed()
		f.nsec = uint32(unsigned())
		n := unsigned()
		m.append(f, string(b[:n]))
		b = b[n:]
		last = f
	}
	m.order = make([]uint32, unsigned())
	place := int64(0)
	for n := range m.order {
		place += signed()
		m.order[n] = uint32(place)
	}
	return m
}
