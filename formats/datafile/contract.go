package datafile

import (
	"context"
	"strconv"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

var _ formats.Head = (*Tables)(nil)

// open is the Open of the format.
func (o Options) open(ctx context.Context, in formats.Input) (formats.Head, error) {
	r, err := NewReader(ctx, in, in.Size)
	if err != nil {
		return nil, err
	}
	return o.limit(r.Tables), nil
}

// limit sets the limit of data items.
func (o Options) limit(t *Tables) *Tables {
	if o.MaxData > 0 {
		t.MaxData = o.MaxData
	}
	return t
}

// Append appends the tables as they are kept on disk.
//
//	| size of the file | the file up to the data part |
func (t *Tables) Append(b []byte) []byte { return indexfile.Append(b, t.code) }

func (t *Tables) code(c indexfile.Codec) {
	c.Values(&t.size)
	c.Blob(&t.stored)
}

// readHead reads what Append of the tables wrote.
func (o Options) readHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	kept := &Tables{}
	if err := indexfile.Read(formatName, saved, kept.code); err != nil {
		return nil, err
	}
	h, err := parseHeader(kept.stored)
	if err != nil {
		return nil, err
	}
	if h.dataAt() != int64(len(kept.stored)) || h.dataAt() > min(kept.size, maxTables) {
		return nil, formats.ErrOther
	}
	t, err := parseTables(h, kept.stored, kept.size)
	if err != nil {
		return nil, err
	}
	return o.limit(t), nil
}

// Memory is about what the tables keep alive, and the Map that a tree makes of them.
func (t *Tables) Memory() int64 {
	const entry, part = 24, 192 // of the tables, of a Map
	parts := 0
	for typ := uint16(typeVersion); typ <= typeSound; typ++ {
		start, end := t.ItemsOf(typ)
		parts += end - start
	}
	return int64(len(t.stored) + entry*(len(t.Items)+len(t.Data)+3*len(t.Types)) + part*parts)
}

// summary is the Summary of the format. All that it says of a map takes an index, whose pass reads
// the texts.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	r := &Reader{rec.Head.(*Tables), rec.ReaderAt}
	s := formats.Summary{Version: r.formatVersion(), HeaderProblems: r.problems(nil)}
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	s.Complete = r.Missing() == 0
	s.Finished, s.End, s.Problems = s.Complete, r.end(), r.problems(x.problems)
	for i, text := range x.credits {
		s.Details.Add(infoKeys[i], text)
	}
	var words []string
	m := r.Map()
	for i := range m.Layers {
		if l := &m.Layers[i]; l.Kind == KindGame {
			s.Details = append(s.Details, l.tilesDetail())
			words = append(words, s.Details[len(s.Details)-1].Text+" tiles")
		}
	}
	s.Details = append(s.Details, m.holdsDetail())
	if author := s.Details.Text("author"); author != "" {
		words = append(words, "by "+author)
	}
	s.Result = strings.Join(words, ", ")
	return s, nil
}

// tilesDetail is the size of the game layer. A short item has none.
func (l *Layer) tilesDetail() formats.Detail {
	text := func(n *int32) string {
		if n == nil {
			return ""
		}
		return strconv.Itoa(int(*n))
	}
	w, h := l.Tiles.Width, l.Tiles.Height
	return formats.Detail{
		Key: "tiles", Value: formats.Details{{Key: "width", Value: w}, {Key: "height", Value: h}},
		Text: text(w) + " × " + text(h),
	}
}

// holdsDetail is how much a map holds.
func (m *Map) holdsDetail() formats.Detail {
	holds := formats.Details{}
	var words []string
	for i, n := range []int{len(m.Images), len(m.Sounds), len(m.Groups), len(m.Layers)} {
		key := []string{"images", "sounds", "groups", "layers"}[i]
		word := key
		if n == 1 {
			word = strings.TrimSuffix(key, "s")
		}
		holds = append(holds, formats.Detail{Key: key, Value: n})
		words = append(words, strconv.Itoa(n)+" "+word)
	}
	return formats.Detail{Key: "holds", Value: holds, Text: strings.Join(words, ", ")}
}
