package compare

import (
	"bytes"
	"fmt"
	"slices"
)

// documents compares two documents.
func (c *comparison) documents(name string, a, b []byte) {
	if x, ok := c.parsed(name, a); ok {
		if y, ok := c.parsed(name, b); ok {
			c.values(name, x, y)
		}
	}
}

// values tells how y differs from x.
func (c *comparison) values(name string, x, y value) {
	switch {
	case x.shape == '{' && y.shape == '{':
		c.objects(name, x, y)
	case x.shape == '[' && y.shape == '[':
		c.lists(name, x, y)
	case !bytes.Equal(x.text, y.text):
		c.add(Change{Kind: Changed, Path: name, Old: x.text, New: y.text})
	}
}

func (c *comparison) objects(name string, x, y value) {
	for i, key := range x.keys {
		if at := slices.Index(y.keys, key); at >= 0 {
			c.values(join(name, key), x.items[i], y.items[at])
		} else {
			c.add(Change{Kind: Removed, Path: join(name, key), Old: x.items[i].text})
		}
	}
	for i, key := range y.keys {
		if !slices.Contains(x.keys, key) {
			c.add(Change{Kind: Added, Path: join(name, key), New: y.items[i].text})
		}
	}
}

// lists compares element by element: by their names if they are objects that have one each, by
// their places if there are as many, or else by what both have in the same order.
func (c *comparison) lists(name string, x, y value) {
	if short(x) && short(y) && len(x.items) == len(y.items) {
		if !bytes.Equal(x.text, y.text) {
			c.add(Change{Kind: Changed, Path: name, Old: x.text, New: y.text})
		}
		return
	}
	for _, key := range [...]string{"dir", "letter", "name", "id"} {
		from, ok := keyed(x, key)
		to, alsoOK := keyed(y, key)
		if ok && alsoOK {
			c.objects(name, from, to)
			return
		}
	}
	if len(x.items) == len(y.items) {
		for i := range x.items {
			c.values(fmt.Sprintf("%s[%d]", name, i), x.items[i], y.items[i])
		}
		return
	}
	c.sequences(name, x.items, y.items)
}

// short reports whether a list is a point, a colour or the like, whose elements mean little alone.
func short(list value) bool {
	for _, item := range list.items {
		if item.shape != 0 || len(item.text) == 0 || item.text[0] == '"' {
			return false
		}
	}
	return len(list.items) <= 8
}

// keyed returns a list of objects as an object, if each has a text or number of its own under key.
func keyed(list value, key string) (value, bool) {
	v := value{shape: '{'}
	seen := map[string]bool{}
	for _, item := range list.items {
		id := item.member(key)
		text := id.str()
		if text == "" {
			text = string(id.text)
		}
		if id.shape != 0 || text == "" || text == "null" || seen[text] {
			return v, false
		}
		seen[text] = true
		v.keys, v.items = append(v.keys, "["+text+"]"), append(v.items, item)
	}
	return v, true
}

// maxTable is the largest product of lengths for which the longest common subsequence is looked
// for: its table has 4 bytes an element, so 16 MiB at most.
const maxTable = 4 << 20

// sequences tells what was removed from x and added to it to get y.
func (c *comparison) sequences(name string, x, y []value) {
	same := func(i, j int) bool { return bytes.Equal(x[i].text, y[j].text) }
	first := 0
	for first < min(len(x), len(y)) && same(first, first) {
		first++
	}
	n, m := len(x), len(y)
	for n > first && m > first && same(n-1, m-1) {
		n, m = n-1, m-1
	}
	i, j := first, first
	for _, next := range common(n-first, m-first, func(i, j int) bool { return same(first+i, first+j) }) {
		c.gap(name, x[i:first+next[0]], y[j:first+next[1]])
		i, j = first+next[0]+1, first+next[1]+1
	}
	c.gap(name, x[i:n], y[j:m])
}

func (c *comparison) gap(name string, removed, added []value) {
	for _, v := range removed {
		c.add(Change{Kind: Removed, Path: name, Old: v.text})
	}
	for _, v := range added {
		c.add(Change{Kind: Added, Path: name, New: v.text})
	}
}

// common returns the pairs of a longest common subsequence, none if that would take too much.
func common(n, m int, same func(i, j int) bool) (pairs [][2]int) {
	if n == 0 || m == 0 || n > maxTable/m {
		return nil
	}
	longest := make([]int32, (n+1)*(m+1)) // of what begins at i and j
	at := func(i, j int) *int32 { return &longest[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same(i, j) {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
	return pairs
}
