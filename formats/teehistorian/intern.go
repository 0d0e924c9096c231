package teehistorian

// An interner keeps one of equal values of stays: most players come again and again, and all of
// them run one of a few versions.
type interner struct {
	texts    map[string]*string
	names    map[string][]string
	versions map[int32]*int32
}

func newInterner() interner {
	return interner{map[string]*string{}, map[string][]string{}, map[int32]*int32{}}
}

// text returns a pointer to s.
func (n *interner) text(s string) *string { return intern(n.texts, s, func() *string { return &s }) }

// version returns a pointer to v.
func (n *interner) version(v int32) *int32 { return intern(n.versions, v, func() *int32 { return &v }) }

// append appends the next name of a stay.
func (n *interner) append(names []string, name string) []string {
	name = *n.text(name)
	if len(names) > 0 {
		return append(names, name)
	}
	return intern(n.names, name, func() []string { return []string{name} })
}

// intern returns the value of a key, which is made for the first who asks.
func intern[K comparable, V any](known map[K]V, key K, value func() V) V {
	v, ok := known[key]
	if !ok {
		v = value()
		known[key] = v
	}
	return v
}
