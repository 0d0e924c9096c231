package datafile

import (
	"context"
	"strconv"
	"strings"

	"recfs/formats"
)

// summary is the Summary of the format. All that it says of a map takes an index, whose pass reads the
// texts.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	r := &Reader{rec.Head.(*Tables), rec.ReaderAt}
	s := formats.Summary{Version: r.formatVersion(), HeaderProblems: r.tableProblems()}
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	s.Complete = r.Missing() == 0
	s.Finished, s.End, s.Problems = s.Complete, r.end(), x.problems
	for i, text := range x.credits {
		s.Details.Add(infoKeys[i], text)
	}
	m := r.Map()
	for i := range m.Layers {
		if l := &m.Layers[i]; l.Kind == KindGame {
			s.Details = append(s.Details, l.tilesDetail())
		}
	}
	s.Details = append(s.Details, m.holdsDetail())
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
	for _, kind := range []struct {
		one, many string
		n         int
	}{
		{"image", "images", len(m.Images)},
		{"sound", "sounds", len(m.Sounds)},
		{"group", "groups", len(m.Groups)},
		{"layer", "layers", len(m.Layers)},
	} {
		word := kind.many
		if kind.n == 1 {
			word = kind.one
		}
		holds = append(holds, formats.Detail{Key: kind.many, Value: kind.n})
		words = append(words, strconv.Itoa(kind.n)+" "+word)
	}
	return formats.Detail{Key: "holds", Value: holds, Text: strings.Join(words, ", ")}
}
