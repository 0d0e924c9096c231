package nethack

import (
	"context"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
)

// loadState decodes the save of tick n, once for all that is made of it.
func (rec *recording) loadState(ctx context.Context, n int) (*state, int64, error) {
	x, err := rec.sound(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	save, err := rec.saves.Get(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	held, err := formats.Charge(ctx, stateCost+2*mapRows*rowCost+thingCost/objectSize*min(int64(len(save)), maxShown))
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	s := x.decodeState(n, save)
	return s, s.cost(), nil
}

// decodeState decodes the save of tick n, parts of which the state may keep.
func (x *index) decodeState(n int, save []byte) *state {
	t := &x.ticks[n]
	s := &state{
		Tick: n, Turn: t.turn, Time: timeOf(t.clock, x.zone(n)), Save: t.saveName(), Timezone: saveTimezone(save),
	}
	s.Incarnation, s.details = readState(save)
	return s
}

// What parts of a state take in memory, about.
const (
	stateCost = 1 << 10
	rowCost   = mapColumns + 17
	thingCost = 120

	documentPerState = 6 // times as long is its document at most, about, with room to grow
)

// cost returns about how many bytes a state keeps alive.
func (s *state) cost() int64 {
	if s.details == nil || s.around == nil {
		return stateCost + mapRows*rowCost
	}
	things := int64(0)
	count := func(list []object) { things += countObjects(list) }
	count(s.pack)
	if l := s.level; l != nil {
		count(l.objects)
		things += int64(len(l.monsters) + len(l.traps))
		for i := range l.monsters {
			count(l.monsters[i].inventory)
		}
	}
	return stateCost + 2*mapRows*rowCost + thingCost*things
}

// countObjects counts objects with those in them.
func countObjects(list []object) int64 {
	n := int64(len(list))
	for i := range list {
		n += countObjects(list[i].contents)
	}
	return n
}

// tickWork is what a save takes, or one of states/ with its save, unless that is a large one.
const tickWork = 1 << 20

// ofTick returns what get makes of a tick, with as much memory from the start as that mostly takes.
func (rec *recording) ofTick(ctx context.Context, get func(context.Context) ([]byte, error)) (b []byte, err error) {
	err = rec.cache.Do(ctx, tickWork, func(ctx context.Context) (err error) {
		b, err = get(ctx)
		return err
	})
	return b, err
}

// stateText returns a document of states/.
func (rec *recording) stateText(ctx context.Context, n int) ([]byte, error) {
	return rec.ofTick(ctx, func(ctx context.Context) ([]byte, error) { return rec.texts.Get(ctx, text{view: stateView, n: n}) })
}

// stateDocument makes a document of states/.
func (rec *recording) stateDocument(ctx context.Context, n int) ([]byte, error) {
	s, err := rec.states.Get(ctx, n)
	if err != nil {
		return nil, err
	}
	held, err := formats.Charge(ctx, documentPerState*s.cost())
	if err != nil {
		return nil, err
	}
	defer held.Free()
	return s.appendDocument(nil)
}

// appendDocument appends a state as one of the documents of states/ (docs/tree/nethack.md sections 6 and 6a).
func (s *state) appendDocument(dst []byte) ([]byte, error) {
	head, err := nodes.MarshalIndented(s)
	if err != nil || s.details == nil {
		return append(dst, head...), err
	}
	doc := appendRows(append(dst, head[:len(head)-len("\n}\n")]...), "map", s.Map)
	if s.around != nil {
		doc = s.around.appendJSON(doc)
	}
	return append(doc, "\n}\n"...), nil
}

// appendJSON appends what is around the hero to the members of a document.
func (a *around) appendJSON(doc []byte) []byte {
	l := a.level
	if l == nil {
		l = &level{}
	}
	doc = appendRows(doc, "screen", a.screen)
	doc = appendList(doc, "inventory", a.pack, a.pack != nil, (*object).appendCarried)
	doc = appendList(doc, "monsters", l.monsters, a.level != nil, (*monster).appendJSON)
	doc = appendList(doc, "objects", l.objects, a.level != nil, (*object).appendLying)
	return appendList(doc, "traps", l.traps, a.level != nil, (*trap).appendJSON)
}

// appendMember begins a member of a document.
func appendMember(doc []byte, key string) []byte {
	doc = append(doc, ",\n  \""...)
	doc = append(doc, key...)
	return append(doc, "\": "...)
}

// appendRows appends a member with the rows of a map, each on a line.
func appendRows(doc []byte, key string, rows []string) []byte {
	row := func(row *string, doc []byte) []byte {
		if strings.IndexByte(*row, '"') < 0 && strings.IndexByte(*row, '\\') < 0 { // as symbols are printable
			return append(append(append(doc, '"'), *row...), '"')
		}
		return jsonenc.AppendString(doc, *row)
	}
	return appendList(doc, key, rows, rows != nil, row)
}

// appendList appends a member with a list of which each element stands on a line, or null.
func appendList[T any](doc []byte, key string, list []T, known bool, one func(*T, []byte) []byte) []byte {
	doc = appendMember(doc, key)
	switch {
	case !known:
		return append(doc, "null"...)
	case len(list) == 0:
		return append(doc, "[]"...)
	}
	sep := byte('[')
	for i := range list {
		doc = append(append(doc, sep), "\n    "...)
		doc = one(&list[i], doc)
		sep = ','
	}
	return append(doc, "\n  ]"...)
}
