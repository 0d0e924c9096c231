package nethack

import (
	"context"

	"recfs/formats"
)

// decodeState decodes the save of tick n, parts of which the state may keep.
func (x *index) decodeState(n int, save []byte) *state {
	t := x.ticks.at(n)
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

// stateText returns a document of states/.
func (rec *recording) stateText(ctx context.Context, n int64) ([]byte, error) {
	return rec.ofTick(ctx, func(ctx context.Context) ([]byte, error) { return rec.documents.Get(ctx, n) })
}

// loadDocument decodes the save of tick n and makes its document.
func (rec *recording) loadDocument(ctx context.Context, n int64) (doc []byte, cost int64, err error) {
	x, err := rec.sound(ctx, int(n))
	if err != nil {
		return nil, 0, err
	}
	save, err := rec.saves.Get(ctx, int(n))
	if err != nil {
		return nil, 0, err
	}
	held, err := formats.Charge(ctx, stateCost+2*mapRows*rowCost+thingCost/objectSize*min(int64(len(save)), maxShown))
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	s := x.decodeState(int(n), save)
	if err := held.Grow(documentPerState * s.cost()); err != nil {
		return nil, 0, err
	}
	doc = s.appendDocument(nil)
	return doc, int64(cap(doc)), nil
}
