package hcrp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A model tells what a recording whose chunks overlap must show, as docs/tree/hcrp.md section 1 has
// it: tick by tick, with a look at every chunk for each.
type model struct {
	layout  Layout
	chunks  []*chunk // nil: not readable
	entries []Entry
	order   []int // by first tick, then number

	files   map[string]string // what is shown
	unknown map[string]bool   // what opens with EIO
	absent  map[string]bool   // what does not open

	replay    *replay
	lost      bool // a tick before this one is unknown
	last      int  // chunk of the last tick
	current   map[int64]string
	lives     map[int64]int
	markers   []string
	positions []string // rows of the table
}

func newModel(t *testing.T, r *Reader, s *Schema) *model {
	m := &model{
		layout: r.Header.Layout, files: map[string]string{}, unknown: map[string]bool{}, absent: map[string]bool{},
		replay: newReplay(r.Header.Layout), last: -1, current: map[int64]string{}, lives: map[int64]int{},
	}
	for i := range r.Chunks() {
		m.entries, m.order = append(m.entries, r.Entry(i)), append(m.order, i)
		body, err := r.Body(t.Context(), i)
		if err != nil {
			m.chunks = append(m.chunks, nil)
			continue
		}
		m.chunks = append(m.chunks, r.eventFormat(s).decode(i, r.Entry(i), body))
	}
	sort.SliceStable(m.order, func(a, b int) bool { return m.entries[m.order[a]].Start < m.entries[m.order[b]].Start })
	return m
}

// owner returns the chunk that tick n belongs to, -1 if none has it, and the tick if it is
// recorded. known says that all is known of it.
func (m *model) owner(n int64) (number int, found *tick, known bool) {
	var in []int
	for _, i := range m.order {
		if e := m.entries[i]; e.Start <= n && n <= e.Last() {
			in = append(in, i)
		}
	}
	for _, cut := range []bool{false, true} {
		for _, i := range in {
			if m.chunks[i] == nil {
				continue
			}
			if k := slices.IndexFunc(m.chunks[i].ticks, func(t tick) bool { return t.n == n && t.cut == cut }); k >= 0 {
				return i, &m.chunks[i].ticks[k], !cut
			}
		}
	}
	for _, i := range in {
		if m.chunks[i] != nil && m.chunks[i].known >= n {
			return i, nil, true
		}
	}
	if len(in) == 0 {
		return -1, nil, m.layout == Design
	}
	return in[0], nil, false
}

// run makes what is shown of all ticks.
func (m *model) run() {
	first, end := m.entries[m.order[0]].Start, int64(0)
	for _, e := range m.entries {
		end = max(end, e.Last()+1)
	}
	if m.layout == Published {
		m.lost = first > 0
	}
	m.files["export/ghost.csv"] = ghostHead
	for n := first; n < end; n++ {
		m.tick(n)
	}
	lines := strings.Join(m.markers, ",")
	m.files["markers.json"] = string(document([]byte(`{"markers":[` + lines + `]}`)))
	for n := end; n < end+3; n++ {
		m.absent[fmt.Sprintf("ticks/%08d.json", n)] = true
		m.absent[fmt.Sprintf("states/%08d.json", n)] = true
	}
}

func (m *model) tick(n int64) {
	number, t, known := m.owner(n)
	name := fmt.Sprintf("%08d.json", n)
	var c *chunk
	if number >= 0 {
		c = m.chunks[number]
	}
	switch {
	case t != nil:
		m.files["ticks/"+name] = string(document(c.bytes(t.line)))
		m.note(c, t)
	case known || number < 0:
		m.absent["ticks/"+name] = true
	default:
		m.unknown["ticks/"+name] = true
	}
	if !known {
		m.lost = true
		m.unknown["states/"+name] = true
		return
	}
	if c == nil {
		c, number = &chunk{}, m.last
		m.replay.enter(&tickRange{Hole: true, Lost: m.lost}, c)
	} else {
		m.replay.enter(&tickRange{First: n, Lost: m.lost}, c)
	}
	m.lost, m.last = m.lost && number < 0, number
	m.play(n, c, t)
	if m.replay.world == nil || number < 0 {
		m.unknown["states/"+name] = true
		return
	}
	m.files["states/"+name] = string(document(m.replay.world.appendState(appendStateHead(nil, n, int32(number)))))
}

// note notes the markers of a tick.
func (m *model) note(c *chunk, t *tick) {
	for _, e := range c.events[t.first:t.last] {
		if e.def != nil && e.def.Role == roleMarker {
			m.markers = append(m.markers, string(appendMoment(nil, t.n))+","+string(c.bytes(e.text)[1:]))
		}
	}
}

// play plays the events of a tick, of which t may be nil.
func (m *model) play(n int64, c *chunk, t *tick) {
	rows := map[string]string{}
	if t != nil {
		for k := t.first; k < t.last; k++ {
			e := &c.events[k]
			placed := m.replay.apply(c, e)
			if e.def == nil || !e.hasAll(captureEntity) {
				continue
			}
			if e.def.Role == roleRemove {
				delete(m.current, e.entity)
			}
			if !placed {
				continue
			}
			if m.current[e.entity] == "" || e.def.Role == roleSpawn && k >= c.marked {
				m.lives[e.entity]++
				m.current[e.entity] = fmt.Sprintf("tracks/entity-%d.csv", e.entity)
				if life := m.lives[e.entity]; life > 1 {
					m.current[e.entity] = fmt.Sprintf("tracks/entity-%d-%d.csv", e.entity, life)
				}
			}
			pos := m.replay.positions[e.entity]
			rows[m.current[e.entity]] = string(appendTrackRow(nil, n, &pos, nil))
		}
	}
	for name, row := range rows {
		m.files[name] = strings.TrimPrefix(m.files[name], trackHead)
		m.files[name] = trackHead + m.files[name] + row
		m.positions = append(m.positions, name+":"+row)
	}
	if p, ok := m.replay.positions[0]; ok {
		m.files["export/ghost.csv"] += fmt.Sprintf("%d,%d%s", n, n*msPerTick, appendCoordinates(nil, &p, nil))
	}
}

// hold holds a tree to the model.
func (m *model) hold(t *testing.T, what string, dir nodes.Dir) {
	t.Helper()
	for name, want := range m.files {
		if b, err := read(t, dir, name); err != nil || string(b) != want {
			t.Errorf("%s: %s is\n%s\n%v, want\n%s", what, name, b, err, want)
		}
	}
	for name := range m.unknown {
		if b, err := read(t, dir, name); !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("%s: %s is\n%s\n%v", what, name, b, err)
		}
	}
	for name := range m.absent {
		if _, err := read(t, dir, name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s: %s opens, %v", what, name, err)
		}
	}
	for _, d := range []string{"ticks", "tracks"} {
		var want []string
		for name := range m.files {
			if rest, ok := strings.CutPrefix(name, d+"/"); ok {
				want = append(want, rest)
			}
		}
		slices.Sort(want)
		if got := names(t, dir, d); !slices.Equal(got, want) {
			t.Errorf("%s: %s/ lists %v, want %v", what, d, got, want)
		}
	}
	if got := names(t, dir, "states"); !slices.Equal(got, names(t, dir, "ticks")) {
		t.Errorf("%s: states/ lists %v", what, got)
	}
	m.holdTables(t, what, dir)
}

// holdTables holds the tables to the other files.
func (m *model) holdTables(t *testing.T, what string, dir nodes.Dir) {
	t.Helper()
	var positions []string
	for _, row := range tableRows(t, dir, "tables/positions.parquet") {
		name := fmt.Sprintf("tracks/entity-%v.csv", row[1])
		if row[2] != int32(1) {
			name = fmt.Sprintf("tracks/entity-%v-%v.csv", row[1], row[2])
		}
		pos := position{row[3].(float64), row[4].(float64), row[5].(float64), float64(row[6].(float32)), float64(row[7].(float32))}
		positions = append(positions, name+":"+string(appendTrackRow(nil, row[0].(int64), &pos, nil)))
	}
	slices.Sort(positions)
	slices.Sort(m.positions)
	if !slices.Equal(positions, m.positions) {
		t.Errorf("%s: positions are\n%s\nwant\n%s", what, positions, m.positions)
	}
	var markers []string
	for _, row := range tableRows(t, dir, "tables/markers.parquet") {
		name, _ := json.Marshal(row[1])
		line := fmt.Sprintf(`{"tick":%v,"time_ms":%v,"event":%s,"id":%v`, row[0], row[0].(int64)*msPerTick, name, row[2])
		if fields := strings.TrimPrefix(row[3].(string), "{"); fields != "}" {
			line += "," + fields
		} else {
			line += "}"
		}
		markers = append(markers, line)
	}
	want := strings.ReplaceAll(strings.Join(m.markers, "\n"), insideSnapshot, "")
	if got := strings.Join(markers, "\n"); got != want {
		t.Errorf("%s: markers are\n%s\nwant\n%s", what, got, want)
	}
	var ticks, lines bytes.Buffer
	for _, i := range m.order {
		if m.chunks[i] == nil {
			continue
		}
		for _, x := range m.chunks[i].ticks {
			for range m.chunks[i].events[x.first:x.last] {
				fmt.Fprintln(&lines, x.n, i)
			}
		}
	}
	for _, row := range tableRows(t, dir, "tables/events.parquet") {
		fmt.Fprintln(&ticks, row[0], row[1])
	}
	if ticks.String() != lines.String() {
		t.Errorf("%s: ticks and chunks of events are\n%s\nwant\n%s", what, &ticks, &lines)
	}
}

// tableRows returns the values of a table.
func tableRows(t *testing.T, dir nodes.Dir, name string) [][]any {
	t.Helper()
	table := parquettest.Read(t, []byte(mustRead(t, dir, name)))
	rows := make([][]any, table.Rows())
	for i := range rows {
		for _, c := range table.Columns {
			rows[i] = append(rows[i], c.Values[i])
		}
	}
	return rows
}

// overlapping returns a recording whose chunks overlap, with what its chunks have in common.
func (g *generator) overlapping(layout Layout, version int) *testRecording {
	r := &testRecording{layout: layout, version: version, metadata: []byte{10, 0}}
	start := g.IntN(3)
	for range 2 + g.IntN(4) {
		r.chunks = append(r.chunks, g.chunk(layout, start, 1+g.IntN(12)))
		switch last := r.chunks[len(r.chunks)-1]; g.IntN(6) {
		case 0: // once more
			r.chunks = append(r.chunks, last)
		case 1: // beginning together
		case 2: // one after the other
			start += last.ticks
		case 3: // apart
			start += last.ticks + g.IntN(4)
		default:
			start += g.IntN(last.ticks + 1)
		}
	}
	for i := range r.chunks {
		c := &r.chunks[i]
		switch g.IntN(6) {
		case 0:
			c.body = c.body[:g.IntN(len(c.body)+1)]
		case 1:
			c.ticks += g.IntN(4)
		}
	}
	if g.IntN(3) == 0 {
		g.Shuffle(len(r.chunks), func(i, k int) { r.chunks[i], r.chunks[k] = r.chunks[k], r.chunks[i] })
	}
	return r
}

// TestOverlap holds recordings whose chunks overlap to the model: chunks that are the same, that
// begin or end in one another, are damaged, or lost.
func TestOverlap(t *testing.T) {
	seeds := uint64(nodestest.Times(30, 6))
	for _, host := range hosts(t) {
		for seed := range seeds {
			g := &generator{rand.New(rand.NewPCG(seed, 40)), host.schema}
			rec := g.overlapping(host.layout, host.version)
			file := rec.file(t)
			r, err := readerOf(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if seed%3 == 1 {
				file[r.Entry(g.IntN(r.Chunks())).Raw] ^= 1
			}
			r, err = readerOf(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := openBytes(t, file, Options{Schemas: []*Schema{host.schema}})
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, seed %d", host.name, seed)
			m := newModel(t, r, host.schema)
			m.run()
			m.hold(t, what, dir)
			for name, err := range nodestest.Check(t, dir) {
				if !errors.Is(err, formats.ErrCorrupt) {
					t.Errorf("%s: %s: %v", what, name, err)
				}
			}
			if t.Failed() {
				t.Fatalf("%v", slices.Collect(maps.Keys(m.unknown)))
			}
		}
	}
}

// TestOverlapGoesOn indexes recordings whose chunks overlap while they grow, and in stretches.
func TestOverlapGoesOn(t *testing.T) {
	for i, host := range hosts(t) {
		format := New(Options{Schemas: []*Schema{host.schema}})
		for seed := range uint64(nodestest.Times(4, 1)) {
			g := &generator{rand.New(rand.NewPCG(seed, 41+uint64(i))), host.schema}
			rec := g.overlapping(host.layout, host.version)
			formatstest.Prefixes(t, format, rec.file(t))
			var saved []byte
			for n := 1; n <= len(rec.chunks); n++ {
				part := *rec
				part.chunks = rec.chunks[:n]
				in := dirInput(part.segments(t, 2))
				h, fresh := indexOf(t, in, host.schema)
				x, err := readIndex(in, h, saved)
				var went formats.Index
				if err == nil {
					went, err = scan(t.Context(), in, h, x)
				}
				if err == nil && !bytes.Equal(went.Append(nil), fresh.Append(nil)) {
					t.Errorf("%s, seed %d: the index that went on to %d chunks is another", host.name, seed, n)
				} else if err != nil && saved != nil && !errors.Is(err, formats.ErrOther) {
					t.Errorf("%s, seed %d, %d chunks: %v", host.name, seed, n, err)
				}
				saved = fresh.Append(nil)
			}
		}
	}
}

// Two chunks that take turns with each tick, and are too large to be kept, do not take for ever.
func TestTurns(t *testing.T) {
	nodestest.Long(t)
	host := hosts(t)[0]
	const ticks = 100000
	rec := &testRecording{layout: Published, version: 4, metadata: []byte{10, 0}}
	for i := range 2 {
		c := testChunk{ticks: ticks}
		for n := i; n < ticks; n += 2 {
			c.body = append(appendVarint(c.body, int64(n)), 0, 1, 10)
		}
		rec.chunks = append(rec.chunks, c)
	}
	file := rec.file(t)
	_, x := indexOf(t, fileInput(file, len(file)), host.schema)
	last := x.problems[len(x.problems)-1]
	if last.Code != codeIndexTicks || x.complete || x.ticks.count() != ticks {
		t.Errorf("%v, complete %v, %d ticks", last, x.complete, x.ticks.count())
	}
}
