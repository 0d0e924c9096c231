package nethack

import (
	"context"
	"fmt"
	"strings"

	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes/play"
)

// playing declares how a log plays (docs/tree/page.md section 3). What is decoded at once is a
// block of frames, from the save before it on.
func (rec *recording) playing() *views.Play[index] {
	return &views.Play[index]{
		Kind: play.NetHack,
		About: func(_ context.Context, x *index) (*play.About, error) {
			a := &play.About{}
			if x.ticks.len() > 0 {
				a.Start = x.timeOf(0)
			}
			return a, nil
		},
		Marks: func(_ context.Context, x *index) (int, func(int) play.Mark, error) {
			return x.totals().Backups, x.backupMark, nil
		},
		Players: func(_ context.Context, x *index) (int, func(int) play.Player, error) {
			return min(x.ticks.len(), 1), func(int) play.Player {
				return play.Player{ID: "0", Name: play.Cut(validText(rec.header.name)), Last: int64(x.ticks.len() - 1)}
			}, nil
		},
		Chunks: func(x *index) int { return (x.ticks.len() + playTicks - 1) / playTicks },
		Chunk: func(x *index, i int) views.Stretch {
			first, last := i*playTicks, min((i+1)*playTicks, x.ticks.len())-1
			return views.Stretch{First: int64(first), Last: int64(last), Bytes: x.ticks.end(last) - x.behind(first-1)}
		},
		Open: func(ctx context.Context, x *index, i int, _ any) (views.Player, error) {
			return &player{rec: rec, index: x, next: i * playTicks}, nil
		},
	}
}

// playTicks is how many ticks a block has.
var playTicks = int(play.FramesPerBlock(play.NetHack))

// backupMark is the mark of a backup: each chunk but perhaps the first begins with one.
func (x *index) backupMark(i int) play.Mark {
	n := x.chunks.number(i + x.chunks.rows - x.totals().Backups)
	return play.Mark{Tick: int64(n), Kind: "backup", Text: fmt.Sprintf("backup, turn %d", x.ticks.turn(n))}
}

// A player goes through the ticks of a block.
type player struct {
	rec *recording
	*index
	next int // the tick that comes next
}

// Play implements views.Player.
func (p *player) Play(ctx context.Context, tick int64, found *views.Events) error {
	first, end := p.next, min(int(tick)+1, p.ticks.len())
	p.next = max(first, end)
	if found == nil || first >= end {
		return nil
	}
	held, err := formats.Charge(ctx, min(p.eventBytes(first, end), maxEventText))
	if err != nil {
		return err
	}
	defer held.Free()
	return p.visit(ctx, p.rec.At(ctx), first, end, func(n int, ev *events) error {
		for e := range ev.all() {
			if found.Wants(int64(n), e.kind) {
				found.Put(play.Event{Tick: int64(n), Kind: e.kind, Text: e.words()})
			}
		}
		return nil
	})
}

// Show implements views.Player: the first frame brings those of the whole block.
func (p *player) Show(ctx context.Context, s *views.Stage) error {
	if s.Screen != nil {
		return nil
	}
	first := int(s.Tick)
	end := min(first+playTicks, p.ticks.len())
	var cost int64
	var err error
	s.Screen, cost, err = p.rec.screens(ctx, p.index, first, end)
	s.MS = make([]int64, end-first)
	start, _ := utcMicros(p.ticks.at(0).clock, p.zone(0))
	for i := range s.MS {
		now, _ := utcMicros(p.ticks.at(first+i).clock, p.zone(first+i))
		s.MS[i] = (now - start) / 1000
	}
	s.Use(cost)
	return err
}

// Point implements views.Player: the last save of a block is at hand for the next one.
func (p *player) Point() (at any, cost int64) { return nil, 0 }

// screenCost is about what a frame keeps alive beside its rows, and with them while it is made.
const (
	screenCost = 2*castRows*16 + 3*8
	screenMost = screenCost + 2*castRows*castColumns

	savesClaimed = 6 // that eachSave has at once, with what they are decoded from
)

// screens returns what export/game.cast shows of the ticks from first to before end, and how that
// is without monsters; and about how many bytes that keeps alive. Rows that stay are there once.
func (rec *recording) screens(ctx context.Context, x *index, first, end int) (s *play.Screens, cost int64, err error) {
	n := end - first
	s = &play.Screens{
		Ticks: make([]int64, n), Turns: make([]int64, n), Rows: make([][]string, n), Plain: make([][]string, n),
	}
	for i := range n {
		s.Ticks[i], s.Turns[i] = int64(first+i), int64(x.ticks.turn(first+i))
	}
	before := make([]string, castRows)
	if err := formats.Claim(ctx, int64(n)*screenMost+savesClaimed*int64(x.largest(max(first-1, 0), end-1))+tickWork/2); err != nil {
		return nil, 0, err // before a save is made
	}
	err = rec.eachShown(ctx, x, first, end, screenMost, func(n int, save []byte) error {
		now := x.decodeState(n, save)
		if now.details == nil || now.Hero == nil {
			return nil
		}
		rows, plain := now.terminal(now.overview()), now.terminal(now.remembered())
		cost += screenCost + share(rows, before) + share(plain, rows)
		before, s.Rows[n-first], s.Plain[n-first] = rows, rows, plain
		return nil
	})
	return s, cost, err
}

// share makes rows that are those of others the same in memory, and copies the rest out of what
// they are parts of. It returns how many bytes those have.
func share(rows, others []string) (cost int64) {
	for i, row := range rows {
		if rows[i] = others[i]; row != others[i] {
			rows[i] = strings.Clone(row)
			cost += int64(len(row))
		}
	}
	return cost
}

// words says what an event is: of a command its name and arguments, of others what they are and
// what was answered.
func (e *event) words() string {
	var b []byte
	if e.kind != kindCommand {
		b = append(b, e.kind...)
	}
	for i := range e.fields {
		f := &e.fields[i]
		if f.key == "key_code" && i+1 < len(e.fields) && e.fields[i+1].key == "key" {
			continue // the character says it
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		switch {
		case f.text != nil:
			b = append(b, validText(f.text)...)
		case f.flag:
			b = append(b, f.key...)
		case f.items != nil:
			b = fmt.Appendf(b, "%d items", len(f.items))
		default:
			b = fmt.Appendf(b, "%s %d", f.key, f.number)
		}
	}
	return play.Cut(string(b))
}
