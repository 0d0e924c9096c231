package teehistorian

// An interner keeps one of equal texts of stays: most players come again and again, and all of them
// run one of a few versions.
type interner map[string]string

// text returns s, the one that is kept.
func (n interner) text(s string) string {
	known, ok := n[s]
	if !ok {
		known = s
		n[s] = s
	}
	return known
}
