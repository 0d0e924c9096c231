package teehistorian

import (
	"math/bits"
	"slices"

	"github.com/google/uuid"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// Lengths of the two most frequent events without their numbers.
const (
	playerDiffLen = len(`{"event":"player_diff","offset":,"cid":,"dx":,"dy":,"x":,"y":},`)
	inputDiffLen  = len(`{"event":"input_diff","offset":,"cid":,"diff":{},"input":},`) + inputLength
	inputLength   = len(`{"direction":,"target_x":,"target_y":,"jump":,"fire":,"hook":,"player_flags":,` +
		`"wanted_weapon":,"next_weapon":,"prev_weapon":}`)
)

// inputDiffLens are the lengths of the members of "diff" without their numbers.
var inputDiffLens = func() (lens [inputs]int) {
	for i, key := range inputKeys {
		lens[i] = len(key)
	}
	return lens
}()

// account counts an event that was applied. For the two kinds that nearly all records have, the
// lengths of what will be rendered follow from their numbers. The others are rendered.
func (b *builder) account(e *event) {
	if e.offset >= b.offsetLimit {
		b.fold()
		b.offsetLen = jsonenc.UintLen(uint64(e.offset))
		b.offsetLimit = int64(jsonenc.Pow10[b.offsetLen])
	}
	switch {
	case e.kind == playerDiff && e.known:
		a := &b.active[e.place]
		a.positions.count++
		b.positions.row(e.tick)
		a.positions.digits += a.x.of(e.player.x) + a.y.of(e.player.y)
		b.digits += jsonenc.ShortLen(e.x) + jsonenc.ShortLen(e.y)
	case e.kind == inputDiff && e.known:
		a := &b.active[e.place]
		for m := e.changed; m != 0; m &= m - 1 {
			i := bits.TrailingZeros16(m)
			v, diff := e.player.input[i], e.input[i]
			b.digits += inputDiffLens[i] + jsonenc.ShortLen(diff)
			a.inputLen += jsonenc.ShortLen(v) - jsonenc.ShortLen(v-diff)
		}
		if e.changed != 0 {
			b.digits-- // the first member has no comma
		}
		a.inputs.count++
		b.inputs.row(e.tick)
		a.inputs.digits += a.inputLen
	default:
		b.accountRare(e)
	}
}

// fold counts what was gathered of the frequent kinds. It is called before the length of the tick
// or of the offset changes.
func (b *builder) fold() {
	for i := range b.active {
		b.foldActive(&b.active[i])
	}
	b.chunk.Lines += int64(b.digits)
	b.digits = 0
}

func (b *builder) foldActive(a *active) {
	for _, kind := range []struct {
		*gathered
		kind      kind
		table     table
		row, line int // lengths without the numbers that vary
	}{
		{&a.positions, playerDiff, positionTable, b.tickLen + len(",,\n"), playerDiffLen},
		{&a.inputs, inputDiff, inputTable, b.tickLen + inputs + len("\n"), inputDiffLen},
	} {
		n, digits := int64(kind.count), int64(kind.digits)
		a.rows[kind.table] += n
		a.bytes[kind.table] += n*int64(kind.row) + digits
		b.chunk.Lines += n*int64(kind.line+b.offsetLen+a.cidLen) + digits
		b.counts[eventNumbers[eventNames[-kind.kind]]] += n
		*kind.gathered = gathered{}
	}
}

func (b *builder) countAnomaly(e *event) {
	b.anomalies++
	if b.anomalies <= maxAnomalies {
		b.problem("anomaly", e.offset, e.anomaly.String())
	}
}

// accountRare counts an event of a rare kind.
func (b *builder) accountRare(e *event) {
	b.counts[eventNumbers[e.name()]]++
	if e.anomaly != noAnomaly {
		b.countAnomaly(e)
	}
	if e.began {
		b.beginStay(e)
	}
	b.scratch = appendHead(b.scratch[:0], e)
	head := len(b.scratch)
	b.scratch = b.render.appendRest(b.scratch, e)
	b.chunk.Lines += int64(len(b.scratch) + len(","))
	b.countRare(e, b.scratch[head:])
	if t, ok := tableOf(e.kind); ok && e.stay != noStay {
		a := &b.active[e.place]
		if e.kind == inputNew {
			a.inputLen = inputLen(&e.input)
		}
		b.scratch = appendRow(b.scratch[:0], e)
		a.rows[t]++
		a.bytes[t] += int64(len(b.scratch))
	}
	b.accountLog(e)
	if e.kind == extension {
		b.accountExtension(e)
	}
	if e.stay != noStay {
		b.accountStay(e, b.stays[e.stay])
	}
}

// accountLog keeps the line of e in events.txt.
func (b *builder) accountLog(e *event) {
	l, ok := b.state.logLine(e, b.text)
	b.text = l.Text
	if !ok {
		return
	}
	if b.log.add(&l); len(b.log.raw.Bytes()) >= lineGroupSize {
		b.endLines()
	}
}

// endLines ends the open group of lines, if there are any.
func (b *builder) endLines() {
	if len(b.log.raw.Bytes()) > 0 {
		b.lines = append(b.lines, b.log.end())
	}
}

func (b *builder) accountExtension(e *event) {
	p := &e.payload
	if p.short {
		message := "fields of " + p.typ.event + " are missing"
		switch {
		case len(b.problems) < maxProblems:
			b.problem(codeShort, e.offset, message)
		case !slices.ContainsFunc(b.problems[maxProblems:], func(p formats.Problem) bool { return p.Code == codeShort }):
			b.problem(codeShort, e.offset, message+" (more like this are not listed)")
		}
		return
	}
	switch p.typ.event {
	case "team_practice":
		b.practice = append(b.practice, practiceChange{e.offset, p.num("team"), p.num("practice") != 0})
	case "player_finish", "team_finish":
		f := finishEvent{Tick: e.tick, Time: p.num("time_ticks"), Stay: e.stay, ID: p.values[0].num, Team: p.typ.event == "team_finish"}
		if e.player != nil && e.player.named {
			f.Name = b.texts.id(e.player.name) + 1
		}
		b.finishes = append(b.finishes, f)
		f.tell(b.stays)
	}
}

// beginStay adds the stay that began with e.
func (b *builder) beginStay(e *event) {
	b.stays = append(b.stays, &stay{CID: e.player.cid, First: e.tick, FirstChunk: -1})
	b.grow()
	a := &b.active[e.place]
	if a.stay != e.stay {
		b.foldActive(a)
		if a.stay != noStay {
			b.past = append(b.past, a.activity)
		}
		a.activity = activity{stay: e.stay}
	}
}

// accountStay notes in a stay what e tells of it.
func (b *builder) accountStay(e *event, s *stay) {
	p := e.player
	if p.open { // a checkpoint keeps nothing of this for a closed stay
		s.Protocol = p.protocol
		if p.hasClan && (s.Clan == nil || *s.Clan != p.clan) {
			s.Clan = new(b.shared.text(p.clan))
		}
	}
	if e.renamed {
		if len(s.Names) == 0 {
			s.Named = e.tick
		}
		s.Names = append(s.Names, b.shared.text(p.name))
	}
	switch e.kind {
	case join:
		s.Join = new(e.tick)
	case drop:
		if s.Drop == nil { // else it has ended before
			s.Drop, s.Reason = new(e.tick), new(b.shared.text(cleanText(e.data)))
		}
	case playerNew:
		s.Lives++
	case extension:
		switch e.payload.typ.event {
		case "ddnetver":
			s.VersionStr = new(b.shared.text(cleanText(find(e.payload.values, "version_str").bytes)))
			if id := find(e.payload.values, "connection_id").bytes; len(id) == len(uuid.UUID{}) {
				s.Connection = slices.Clone(id)
			}
			fallthrough
		case "ddnetver_old":
			s.Version = new(e.payload.num("version"))
		}
	}
}

// countRare counts the rows of an event of a rare kind. rest is what appendRest returned for it,
// and is changed.
func (b *builder) countRare(e *event, rest []byte) {
	if e.kind.isHot() {
		t, ok := tableOf(e.kind)
		if !ok || e.stay == noStay {
			return
		}
		rows := &b.positions
		if t == inputTable {
			rows = &b.inputs
		}
		if rows.row(e.tick); !e.known {
			rows.null()
		}
		return
	}
	events := b.rows[eventsTable]
	eventRow(events.Batch, e, &b.state, b.begun, rest)
	events.EndRow()
}

// flushRows counts what was gathered.
func (b *builder) flushRows() {
	b.positions.flush()
	b.inputs.flush()
}
