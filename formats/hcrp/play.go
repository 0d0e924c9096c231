package hcrp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes/play"
)

const (
	playUnit    = 32   // of a block
	playTurn    = 256  // of a full turn
	maxEntities = 4096 // that are shown at a tick: of more the player alone
)

// playing declares how a recording plays (docs/tree/page.md section 3). What is decoded at once is
// a stretch, before which the world is known.
func (rec *recording) playing() *views.Play[index] {
	return &views.Play[index]{
		Kind: play.HCRP, About: rec.about,
		Marks: func(_ context.Context, x *index) (int, func(int) play.Mark, error) {
			return len(x.markers.list), x.markers.mark, nil
		},
		Players: rec.players,
		Chunks:  rec.stretches,
		Chunk:   rec.stretch,
		Open: func(ctx context.Context, x *index, i int, at any) (views.Player, error) {
			k := i + x.stretch(0)
			p := &player{playback: rec.playback(x), number: x.first(k), behind: x.first(k + 1), lives: x.lives(2)}
			p.next = rec.stretch(x, i).First
			saved, _ := at.(playPoint)
			var err error
			if at == nil {
				p.replay, err = p.start(k)
				return p, err
			}
			p.number, p.next, p.replay = saved.number, saved.next, newReplay(p.layout)
			if err = p.replay.decode(saved.replay); err == nil && saved.inside {
				p.chunk, err = p.chunkOf(ctx, &x.ranges[p.number])
			}
			return p, err
		},
	}
}

// about tells what the head and the index know.
func (rec *recording) about(_ context.Context, x *index) (*play.About, error) {
	a := &play.About{TickMS: new(msPerTick), Unit: "block"}
	if rec.Header.timestamp() != nil {
		a.Start = new(time.UnixMilli(rec.Header.Timestamp).UTC().Format(time.RFC3339Nano))
	}
	// Snapshot sections place entities, and give no rows.
	hidden := false
	for i := 0; rec.Header.Layout == Design && i < rec.Chunks(); i++ {
		hidden = hidden || rec.Entry(i).Snapshot()
	}
	if !hidden {
		rows := x.positionRows.Groups()
		x0, x1, any := columnar.Bounds(rows, 3)
		z0, z1, all := columnar.Bounds(rows, 5)
		if any && all {
			a.Bounds = play.Bounds(playUnit, x0, z0, x1, z1)
		}
	}
	return a, nil
}

// stretches returns how many stretches there are, in the words of views.
func (rec *recording) stretches(x *index) int {
	if len(rec.byTick) == 0 {
		return 0
	}
	return len(x.checkpoints) - x.stretch(0)
}

// stretch returns where one lies. Together they reach from the first tick to the last.
func (rec *recording) stretch(x *index, i int) (s views.Stretch) {
	k := i + x.stretch(0)
	list := x.ranges[x.first(k):x.first(k+1)]
	if len(list) > 0 {
		s.First, s.Last = list[0].First, list[len(list)-1].Last
	}
	if i == 0 {
		s.First, _ = rec.span()
	}
	if i+1 == rec.stretches(x) {
		_, s.Last = rec.span()
	}
	for j := range list {
		if r := &list[j]; !r.Hole && (j == 0 || list[j-1].Chunk != r.Chunk) {
			s.Bytes += rec.Entry(int(r.Chunk)).Size
		}
	}
	return s
}

// players are the lives of entity 0, or of all entities where there is none.
func (rec *recording) players(_ context.Context, x *index) (int, func(int) play.Player, error) {
	var list []int
	for i := range x.tracks {
		if x.tracks[i].Entity == 0 {
			list = append(list, i)
		}
	}
	of := func(i int) int { return list[i] }
	n := len(list)
	if n == 0 {
		n, of = len(x.tracks), func(i int) int { return i }
	}
	_, last := rec.span()
	return n, func(i int) play.Player {
		t := &x.tracks[of(i)]
		return play.Player{ID: playID(t.Entity, t.Life), Name: playName(t.Entity), First: t.From.Tick, Last: min(t.To.Tick, last)}
	}, nil
}

// playKind returns what an entity is.
func playKind(entity int64) string {
	if entity == 0 {
		return "player"
	}
	return "entity"
}

// playName is what an entity is called.
func playName(entity int64) string {
	if entity == 0 {
		return playKind(entity)
	}
	return fmt.Sprintf("entity %d", entity)
}

// playID names a life of an entity.
func playID(entity int64, life int) play.ID {
	id := strconv.FormatInt(entity, 10)
	if life > 1 {
		id = fmt.Sprintf("%s/%d", id, life)
	}
	return play.ID(id)
}

// mark is that of a marker.
func (l *markerList) mark(i int) play.Mark {
	m := &l.list[i]
	return play.Mark{Tick: m.Tick, Kind: roleMarker, Text: playText(m.Name, m.Fields)}
}

// playText says what an event is.
func playText(name string, fields []byte) string {
	return play.Cut(string(bytes.TrimSpace(jsonenc.AppendWords(append([]byte(name), ' '), fields, play.MaxText))))
}

// A player plays the ranges of a stretch, tick by tick.
type player struct {
	*playback
	lives          map[int64][]*track // from the second on
	replay         *replay
	number, behind int    // the range that it is in, or that comes next, and the one behind the last
	chunk          *chunk // of the range that it is in; nil: it is in none
	next           int64  // the tick that comes next
	known          bool   // the last tick was in a range
}

// A playPoint is where a player stands.
type playPoint struct {
	number int
	inside bool
	next   int64
	replay []byte
}

// Play implements views.Player.
func (p *player) Play(ctx context.Context, tick int64, events *views.Events) error {
	for p.known = false; p.number < p.behind && p.index.ranges[p.number].First <= tick; {
		r := &p.index.ranges[p.number]
		if p.chunk == nil {
			var err error
			if p.chunk, err = p.chunkOf(ctx, r); err != nil {
				return err
			}
			if !r.Cut {
				p.replay.enter(r, p.chunk)
			}
			p.next = r.First
		}
		p.goOn(r, min(r.Last, tick), events)
		p.known = r.Last >= tick && !r.Cut
		if r.Last > tick {
			break
		}
		p.number, p.chunk = p.number+1, nil
	}
	return ctx.Err()
}

// goOn plays a range up to a tick.
func (p *player) goOn(r *tickRange, through int64, events *views.Events) {
	for t := range p.chunk.between(p.next, through) {
		for k := t.first; k < t.last; k++ {
			if !r.Cut {
				p.replay.apply(p.chunk, &p.chunk.events[k])
			}
			p.tell(t, k, events)
		}
	}
	p.next = through + 1
}

// tell tells of an event, unless tracks do: it says where an entity is, or is part of a snapshot.
func (p *player) tell(t *tick, k int, events *views.Events) {
	c, kind := p.chunk, ""
	e := &c.events[k]
	switch {
	case e.def == nil:
		kind = c.name(e)
	case e.def.Role == roleMarker:
		kind = roleMarker
	case e.def.Role != roleMove && e.def.Role != rolePlace && k >= c.marked:
		kind = e.def.Name
	}
	if kind == "" || !events.Wants(t.n, kind) {
		return
	}
	told := play.Event{Tick: t.n, Kind: kind, Text: playText(c.name(e), c.bytes(c.fields(k)))}
	if e.hasAll(captureEntity) {
		told.ID = playID(e.entity, p.life(e.entity, t.n))
	}
	events.Put(told)
}

// life returns which life of an entity it is after a tick.
func (p *player) life(entity, tick int64) int {
	later := p.lives[entity]
	return 1 + sort.Search(len(later), func(i int) bool { return later[i].From.Tick > tick })
}

// Show implements views.Player.
func (p *player) Show(_ context.Context, s *views.Stage) error {
	if !p.known || p.replay.world == nil {
		return nil
	}
	known := p.replay.world.entities
	if len(known) > maxEntities {
		known = map[int64]*entity{}
		if e := p.replay.world.entities[0]; e != nil {
			known[0] = e
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		e, life := known[id], p.life(id, s.Tick)
		part := 2 * int64(life)
		if e.placed {
			part++
		}
		t, fresh := s.Track(views.Key{ID: id, Part: part})
		if fresh {
			t.ID, t.Kind, t.Name = playID(id, life), playKind(id), playName(id)
		}
		if t.S = append(t.S, e.does()); e.placed {
			t.X, t.Y, t.Z = append(t.X, play.Round(e.pos[0], playUnit)), append(t.Y, play.Round(e.pos[1], playUnit)), append(t.Z, play.Round(e.pos[2], playUnit))
			t.A = append(t.A, play.Round(e.pos[3], playTurn/360.)&(playTurn-1))
		}
	}
	return nil
}

// does returns what an entity does: 1 sprinting, 2 sneaking, 4 using something.
func (e *entity) does() (bits int32) {
	for i, word := range []string{`"sprinting"`, `"sneaking"`} {
		if bytes.Contains(e.texts[rawFlags], []byte(word)) {
			bits |= 1 << i
		}
	}
	if using := e.texts[rawHand]; len(using) > 0 && string(using) != "null" {
		bits |= 4
	}
	return bits
}

// Point implements views.Player.
func (p *player) Point() (at any, cost int64) {
	saved := playPoint{p.number, p.chunk != nil, p.next, p.replay.encode()}
	return saved, int64(cap(saved.replay)) + 64
}
