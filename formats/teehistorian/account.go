package teehistorian

import "math/bits"

// Lengths of the two most frequent events without their numbers.
const (
	playerDiffLen = len(`{"event":"player_diff","offset":,"cid":,"dx":,"dy":,"x":,"y":}`)
	inputDiffLen  = len(`{"event":"input_diff","offset":,"cid":,"diff":{},"input":}`)
)

// inputKeysLen is the length of an input object without its numbers.
var inputKeysLen = func() int {
	n := len("}")
	for _, key := range inputKeys {
		n += len(key)
	}
	return n
}()

// account counts an event that was applied. The lengths of what will be rendered of it follow from its numbers for
// the two kinds that nearly all records are; the others are rendered.
func (b *builder) account(e *event) {
	b.records++
	b.counts.kinds[-e.kind]++
	if e.anomaly != "" {
		b.countAnomaly(e)
	}
	if e.began {
		b.beginStay(e)
	}
	var n int
	switch {
	case e.kind == playerDiff && e.known:
		p := e.player
		row := intLen(p.x) + intLen(p.y)
		n = playerDiffLen + b.offsetDigits(e.offset) + intLen(e.cid) + intLen(e.x) + intLen(e.y) + row
		a := &b.active[b.state.slots[e.cid]-1]
		a.rows[positionTable]++
		a.bytes[positionTable] += int64(b.tickLen + row + len(",,\n"))
	case e.kind == inputDiff && e.known:
		a := &b.active[b.state.slots[e.cid]-1]
		n = inputDiffLen + b.offsetDigits(e.offset) + intLen(e.cid) + inputKeysLen
		for m := e.changed; m != 0; m &= m - 1 {
			i := bits.TrailingZeros16(m)
			d, v := e.input[i], e.player.input[i]
			n += len(inputKeys[i]) + intLen(d)
			a.inputLen += intLen(v) - intLen(v-d)
		}
		if e.changed != 0 {
			n-- // the first member has no comma
		}
		n += a.inputLen
		a.rows[inputTable]++
		a.bytes[inputTable] += int64(b.tickLen + a.inputLen + inputs + len("\n"))
	default:
		n = b.accountRare(e)
	}
	b.chunk.lines += int64(n + len(","))
}

// offsetDigits is the number of digits of an offset, which only grows.
func (b *builder) offsetDigits(offset int64) int {
	if offset >= b.offsetLimit {
		b.offsetLen = uintLen(uint64(offset))
		b.offsetLimit = int64(pow10[b.offsetLen])
	}
	return b.offsetLen
}

func (b *builder) countAnomaly(e *event) {
	b.anomalies++
	if b.anomalies <= maxAnomalies {
		b.problem(problem{code: "anomaly", offset: e.offset, message: e.anomaly})
	}
}

// accountRare counts an event of a kind that is seldom and returns the length of its JSON.
func (b *builder) accountRare(e *event) int {
	b.scratch = b.render.appendEvent(b.scratch[:0], e)
	n := len(b.scratch)
	if t, ok := tableOf(e.kind); ok && e.stay != noStay {
		a := &b.active[b.state.slots[e.cid]-1]
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
		b.accountStay(e, &b.stays[e.stay])
	}
	return n
}

// accountLog counts the line of e in events.txt.
func (b *builder) accountLog(e *event) {
	l, ok := b.state.logLine(e)
	if !ok {
		return
	}
	b.scratch = l.append(b.scratch[:0], func(int32) string { return "" })
	b.chunk.log += int64(len(b.scratch))
	for _, w := range []*who{&l.who, l.with} {
		if w != nil && w.stay != noStay {
			b.active[b.state.slots[b.stays[w.stay].cid]-1].mentions++
		}
	}
}

func (b *builder) accountExtension(e *event) {
	if b.counts.extensions == nil {
		b.counts.extensions = map[string]int64{}
	}
	p := &e.payload
	b.counts.extensions[p.typ.event]++
	if p.short {
		b.problem(problem{code: "short_payload", offset: e.offset, message: "fields of " + p.typ.event + " are missing"})
		return
	}
	if p.typ.event == "team_practice" {
		b.practice = append(b.practice, practiceChange{e.offset, p.num("team"), p.num("practice") != 0})
	}
}

// beginStay adds the stay that began with e.
func (b *builder) beginStay(e *event) {
	b.stays = append(b.stays, stay{cid: e.player.cid, first: e.tick, firstChunk: -1})
	b.grow()
	a := &b.active[b.state.slots[e.player.cid]-1]
	if a.stay != e.stay {
		if a.stay != noStay {
			b.past = append(b.past, a.activity)
		}
		*a = active{activity: activity{stay: e.stay}, inputLen: a.inputLen}
	}
}

// accountStay notes in a stay what e tells of it.
func (b *builder) accountStay(e *event, s *stay) {
	p := e.player
	s.protocol = p.protocol
	if p.hasClan && (s.clan == nil || *s.clan != p.clan) {
		clan := p.clan
		s.clan = &clan
	}
	if e.renamed {
		s.names = append(s.names, p.name)
	}
	tick := e.tick
	switch e.kind {
	case join:
		s.join = &tick
	case drop:
		if e.known {
			reason := cleanText(e.data)
			s.drop, s.reason = &tick, &reason
		}
	case playerNew:
		s.lives++
	case extension:
		switch e.payload.typ.event {
		case "ddnetver":
			text := cleanText(find(e.payload.values, "version_str").bytes)
			s.versionStr = &text
			fallthrough
		case "ddnetver_old":
			version := e.payload.num("version")
			s.version = &version
		case "player_finish":
			s.finishes = append(s.finishes, finishTime{tick, e.payload.num("time_ticks")})
		}
	}
}
