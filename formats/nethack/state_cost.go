package nethack

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
