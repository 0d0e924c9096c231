package hcrp

import (
	"bytes"
	"maps"
	"slices"

	"recfs/formats/internal/jsonenc"
)

// An entity is what is known of an entity.
type entity struct {
	placed bool // pos is known
	pos    position
	texts  [len(textKeys)][]byte // nil: unknown
	items  map[int64][]byte
	line   []byte // all of it as JSON
	fresh  bool   // line is: nothing has changed since
}

// A world is what is known after some tick (docs/tree/hcrp.md section 7).
type world struct {
	entities map[int64]*entity
	blocks   map[blockAt][]byte // set by setBlock, forgotten by clearBlocks

	list   []byte     // blocks as JSON; nil: they have changed
	states [16][]byte // which some of the blocks have
}

func newWorld() *world {
	return &world{entities: map[int64]*entity{}, blocks: map[blockAt][]byte{}}
}

// setBlock notes the state of a block, which may be empty. Blocks that are set one after the other
// have few different states.
func (w *world) setBlock(at blockAt, state []byte) {
	w.list = nil
	if len(state) == 0 {
		w.blocks[at] = nil
		return
	}
	known := &w.states[int(state[len(state)-1])%len(w.states)]
	if !bytes.Equal(*known, state) {
		*known = bytes.Clone(state)
	}
	w.blocks[at] = *known
}

func (w *world) clearBlocks() {
	clear(w.blocks)
	w.list = nil
}

// know returns the entity, which is about to be changed.
func (w *world) know(id int64) *entity {
	e := w.entities[id]
	if e == nil {
		e = &entity{}
		w.entities[id] = e
	}
	e.fresh = false
	return e
}

// begin applies what a snapshot means besides its events: entities that it does not name are
// forgotten, and at a section all blocks, too.
func (w *world) begin(c *chunk, l Layout) {
	named := map[int64]bool{}
	list := c.entries
	switch {
	case l == Published:
		named[0] = true
		list = c.events[:c.marked]
		if c.marked == 0 {
			return
		}
	case !c.described:
		return
	default:
		w.clearBlocks()
	}
	for i := range list {
		if e := &list[i]; e.def != nil && e.hasAll(captureEntity) && (e.def.Role == roleSpawn || e.def.Role == rolePlace) {
			named[e.entity] = true
		}
	}
	maps.DeleteFunc(w.entities, func(id int64, _ *entity) bool { return !named[id] })
	for i := range c.entries {
		w.apply(c, &c.entries[i])
	}
}

// apply applies an event.
func (w *world) apply(c *chunk, e *event) {
	if e.def == nil {
		return
	}
	if e.hasAll(captureEntity) {
		w.entity(c, e)
	}
	switch e.def.Role {
	case roleBlock:
		if e.hasAll(captureAt) {
			w.setBlock(e.at, c.bytes(e.raw[rawState]))
		}
	case roleBlocks:
		for _, b := range e.blocks {
			w.setBlock(b.at, c.bytes(b.state))
		}
	case roleClear:
		w.clearBlocks()
	}
}

// entity applies what an event says of its entity.
func (w *world) entity(c *chunk, e *event) {
	switch e.def.Role {
	case roleSpawn:
		delete(w.entities, e.entity)
		w.place(c, e)
	case rolePlace:
		w.place(c, e)
	case roleMove:
		if x := w.entities[e.entity]; x != nil && x.placed {
			x.fresh = false
			x.pos.move(e)
			x.set(c, e, rawVelocity)
		}
	case roleRemove:
		delete(w.entities, e.entity)
	}
	w.note(c, e)
}

// place puts an entity somewhere.
func (w *world) place(c *chunk, e *event) {
	x := w.know(e.entity)
	if e.hasAll(captureX) {
		x.placed, x.pos = true, e.pos
	}
	x.set(c, e, rawVelocity)
	if e.raw[rawType].end > 0 {
		x.set(c, e, rawType)
	}
}

// note applies the events that mean the same in every schema.
func (w *world) note(c *chunk, e *event) {
	switch e.def.Name {
	case eventState:
		w.know(e.entity).set(c, e, rawPose, rawFlags)
	case eventUse:
		w.know(e.entity).set(c, e, rawHand)
	case eventSlot:
		w.know(e.entity).set(c, e, rawSlot)
	case eventItems:
		x := w.know(e.entity)
		if x.items == nil {
			x.items = map[int64][]byte{}
		}
		for _, i := range e.items {
			x.items[i.slot] = slices.Clone(c.bytes(i.text))
		}
	}
}

// set copies texts of an event. It forgets those that the event does not have.
func (x *entity) set(c *chunk, e *event, texts ...int) {
	for _, i := range texts {
		if s := e.raw[i]; s.end == 0 {
			x.texts[i] = nil
		} else {
			x.texts[i] = append(x.texts[i][:0], c.bytes(s)...)
		}
	}
}

// move adds the way of a move and takes over the view, if the event has one.
func (p *position) move(e *event) {
	for i := range 3 {
		p[i] += e.pos[i]
	}
	for i := 3; i < len(p); i++ {
		if e.has&(1<<(int(captureX)+i)) != 0 {
			p[i] = e.pos[i]
		}
	}
}

// appendState appends the members entities and blocks of a state, and ends it. What did not change
// since it was shown last is not made again.
func (w *world) appendState(dst []byte) []byte {
	ids := slices.Values(slices.Sorted(maps.Keys(w.entities)))
	dst = jsonenc.AppendList(append(dst, `"entities":`...), ids, func(dst []byte, id int64) []byte {
		e := w.entities[id]
		if !e.fresh {
			e.line, e.fresh = e.append(e.line[:0], id), true
		}
		return append(dst, e.line...)
	})
	if w.list == nil {
		w.list = w.blockList()
	}
	return append(append(append(dst, `,"blocks":`...), w.list...), '}')
}

// blockList returns the list of blocks.
func (w *world) blockList() []byte {
	list := slices.Values(slices.SortedFunc(maps.Keys(w.blocks), blockAt.compare))
	return jsonenc.AppendList(nil, list, func(dst []byte, at blockAt) []byte {
		dst = appendBlockAt(append(dst, `{"at":`...), at)
		return append(appendText(dst, `,"state":`, w.blocks[at]), '}')
	})
}

func (e *entity) append(dst []byte, id int64) []byte {
	dst = jsonenc.AppendInt64(append(dst, `{"entity":`...), id)
	for i, text := range e.texts {
		if dst = appendText(dst, textKeys[i], text); i > rawType {
			continue
		}
		dst = append(dst, `,"position":`...)
		if e.placed {
			dst = appendPosition(dst, e.pos[:], nil)
		} else {
			dst = append(dst, "null"...)
		}
	}
	slots := slices.Values(slices.Sorted(maps.Keys(e.items)))
	dst = jsonenc.AppendList(append(dst, `,"items":`...), slots, func(dst []byte, slot int64) []byte {
		dst = jsonenc.AppendInt64(append(dst, `{"slot":`...), slot)
		return append(appendText(dst, `,"item":`, e.items[slot]), '}')
	})
	return append(dst, '}')
}

// appendText appends a key and the text of its value, or null if the value is unknown. The text of
// a value is never empty.
func appendText(dst []byte, key string, text []byte) []byte {
	dst = append(dst, key...)
	if len(text) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, text...)
}
