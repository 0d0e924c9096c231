package echo

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
)

// A writer encodes frames as the recorders did, but against what a reader will have, so that errors
// do not add up.
type writer struct {
	layout      *layout
	kind        mapKind
	interval    int
	compression uint8
	table       []TableEntry
	mapIndex    uint8
	private     bool

	chunks [][]byte
	b      []byte // the chunk under way
	shown  Frame
	blocks [8][]byte // as last written
	frames int
	bones  []Bones // as a reader has them
	steps  map[int64][4]Vec3
}

func newWriter(l *layout, mapIndex uint8, table []TableEntry) *writer {
	h := Header{MapIndex: mapIndex}
	return &writer{layout: l, kind: h.kind(), mapIndex: mapIndex, interval: 30, table: table}
}

var le = binary.LittleEndian

func toHalf(x float32) uint16 {
	raw := math.Float32bits(x)
	sign := uint16(raw >> 16 & 0x8000)
	e := int(raw>>23&0xff) - 127 + 15
	m := raw & 0x7fffff
	switch {
	case raw&0x7fffffff > 0x7f800000:
		return sign | 0x7e00
	case e >= 31:
		return sign | 0x7c00
	case e <= 0:
		if e < -10 {
			return sign
		}
		return sign | uint16((m|0x800000)>>(14-e))
	}
	return sign | uint16(e)<<10 | uint16(m>>13)
}

func appendHalf(b []byte, x float32) []byte { return le.AppendUint16(b, toHalf(x)) }

func appendVec(b []byte, v Vec3) []byte {
	for _, x := range v {
		b = appendHalf(b, x)
	}
	return b
}

func packQuat(q Quat) uint32 {
	largest := 0
	for i := range q {
		if math.Abs(float64(q[i])) > math.Abs(float64(q[largest])) {
			largest = i
		}
	}
	sign := float32(1)
	if q[largest] < 0 {
		sign = -1
	}
	w, shift := uint32(largest), 2
	for i := range q {
		if i != largest {
			n := (float64(sign*q[i]) + 0.70710678) / 1.41421356 * 1023
			w |= uint32(min(max(n, 0), 1023)) << shift
			shift += 10
		}
	}
	return w
}

func appendQuat(b []byte, q Quat) []byte { return le.AppendUint32(b, packQuat(q)) }

func appendVarint(b []byte, n int64) []byte {
	u := uint64(n<<1) ^ uint64(n>>63)
	switch {
	case u <= 240:
		return append(b, byte(u))
	case u < 2288:
		u -= 240
		return append(b, byte(241+u/256), byte(u))
	case u < 2288+65536:
		u -= 2288
		return append(b, 249, byte(u>>8), byte(u))
	}
	var raw [8]byte
	le.PutUint64(raw[:], u)
	n8 := 3
	for u>>(8*n8) != 0 && n8 < 8 {
		n8++
	}
	return append(append(b, byte(247+n8)), raw[:n8]...)
}

func sub(a, b Vec3) Vec3 { return Vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func halves(v Vec3) Vec3 {
	return Vec3{fromHalf(toHalf(v[0])), fromHalf(toHalf(v[1])), fromHalf(toHalf(v[2]))}
}

// ref returns the reference to a player by name.
func (w *writer) ref(name string) byte {
	return byte(slices.IndexFunc(w.table, func(e TableEntry) bool { return e.Name == name }) + 1)
}

func code(list []string, s string) byte { return byte(max(slices.Index(list, s), 0)) }

func flagBits(flags ...bool) (n byte) {
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	return n
}

// add writes the next frame.
func (w *writer) add(f *Frame) {
	first := w.frames%w.interval == 0
	if first {
		w.flush()
		w.shown = Frame{Pause: w.shown.Pause}
		w.blocks = [8][]byte{}
		w.steps = map[int64][4]Vec3{}
		w.b = le.AppendUint16(nil, keyMarker)
		w.b = le.AppendUint64(w.b, uint64(f.Time))
	} else {
		w.b = le.AppendUint16(w.b, deltaMarker)
		w.b = le.AppendUint16(w.b, uint16(f.Time-w.shown.Time))
	}
	w.b = le.AppendUint32(w.b, math.Float32bits(f.Clock-w.shown.Clock))
	w.frames++
	mask := len(w.b)
	w.b = append(w.b, 0)
	for bit, kind := range w.layout.blocks {
		b := w.block(kind, f, first)
		if b == nil || bytes.Equal(b, w.blocks[bit]) {
			w.repeat(kind)
			continue
		}
		w.b[mask] |= 1 << bit
		w.b = append(w.b, b...)
		w.blocks[bit] = b
		w.apply(kind, f, first)
	}
	w.teams(f, first)
	if w.layout.bones {
		w.boneSection(f)
	}
	players := f.Teams
	shown := w.shown
	w.shown = *f
	w.shown.VR, w.shown.Disc, w.shown.Pause = shown.VR, shown.Disc, shown.Pause
	w.shown.Clock = shown.Clock + (f.Clock - shown.Clock)
	w.shown.Teams = shown.Teams
	for t := range players {
		w.shown.Teams[t].Possession, w.shown.Teams[t].Stats = players[t].Possession, players[t].Stats
	}
}

// block returns the bytes of a block, nil where this map has none.
func (w *writer) block(kind block, f *Frame, first bool) (b []byte) {
	s := &f.Score
	switch kind {
	case blockStatus:
		b = append(b, code(statuses[2:], f.Status)+2)
		if w.kind == combat {
			b[0] = 0
			b = appendHalf(appendHalf(b, f.Points[0]), f.Points[1])
		} else if w.kind == arena {
			b = append(b, byte(f.Points[0]), byte(f.Points[1]))
		}
		return append(b, flagBits(f.Shoulders[:]...))
	case blockOldStatus:
		return append(b, code(statuses[2:], f.Status)+2)
	case blockOldPoints:
		return append(b, byte(f.Points[0]), byte(f.Points[1]))
	case blockOldInputs:
		return append(b, flagBits(f.Shoulders[:]...))
	case blockPause:
		flags := flagBits(f.Restart[0] != 0, f.Restart[1] != 0) | code(teamCodes[:], f.Pause.RequestedTeam)<<2 | code(teamCodes[:], f.Pause.UnpausedTeam)<<4
		state := code(pauseStates[:], f.Pause.State)
		if w.layout.pauseState {
			b = append(b, flags, state)
		} else {
			b = append(b, flags|min(state, 3)<<6)
		}
		if first {
			return append(b, 0, 0, 0, 0)
		}
		b = appendHalf(b, f.Pause.PausedTimer-w.shown.Pause.PausedTimer)
		return appendHalf(b, f.Pause.UnpausedTimer-w.shown.Pause.UnpausedTimer)
	case blockScore:
		if w.kind != arena {
			return nil
		}
		goal := byte(0)
		if s.GoalType != NoGoal {
			goal = code(goalTypes[:], s.GoalType)
		}
		b = append(b, code(teamCodes[:], s.Team)|flagBits(false, false, s.Points == 3)|goal<<3, w.ref(s.Scorer), w.ref(s.Assist))
		return appendHalf(appendHalf(b, s.DiscSpeed), s.Distance)
	case blockThrow:
		for _, x := range f.Throw {
			b = appendHalf(b, x)
		}
		return b
	case blockVR:
		return appendQuat(appendVec(b, sub(f.VR.Position, w.shown.VR.Position)), f.VR.Rotation)
	case blockDisc:
		if w.kind != arena {
			return nil
		}
		b = appendQuat(appendVec(b, sub(f.Disc.Position, w.shown.Disc.Position)), f.Disc.Rotation)
		return appendVec(b, sub(f.Disc.Velocity, w.shown.Disc.Velocity))
	case blockPayload:
		if w.kind != combat {
			return nil
		}
		b = append(b, flagBits(f.Payload.Contested), byte(f.Payload.Checkpoint), byte(f.Payload.Defenders))
		return appendHalf(appendHalf(b, f.Payload.Distance), f.Payload.Speed)
	default: // blockRules
		if !w.private || w.kind != arena {
			return nil
		}
		b = le.AppendUint64(b, uint64(f.Rules.At))
		return append(append(b, f.Rules.By...), 0)
	}
}

// apply and repeat keep what a reader has.
func (w *writer) apply(kind block, f *Frame, first bool) {
	switch kind {
	case blockPause:
		if first {
			held := w.shown.Pause
			w.shown.Pause = f.Pause
			w.shown.Pause.PausedTimer, w.shown.Pause.UnpausedTimer = 0, 0
			if f.Pause.State != "unpaused" && f.Pause.State != "none" {
				w.shown.Pause.PausedTimer, w.shown.Pause.UnpausedTimer = held.PausedTimer, held.UnpausedTimer
			}
			w.timers([2]float32{})
			return
		}
		w.timers([2]float32{
			fromHalf(toHalf(f.Pause.PausedTimer - w.shown.Pause.PausedTimer)),
			fromHalf(toHalf(f.Pause.UnpausedTimer - w.shown.Pause.UnpausedTimer)),
		})
	case blockVR:
		vrStep := halves(sub(f.VR.Position, w.shown.VR.Position))
		w.setStep(-1, 0, vrStep)
		w.shown.VR.Position = w.shown.VR.Position.Add(vrStep)
	case blockDisc:
		p, v := halves(sub(f.Disc.Position, w.shown.Disc.Position)), halves(sub(f.Disc.Velocity, w.shown.Disc.Velocity))
		w.setStep(-1, 1, p)
		w.setStep(-1, 2, v)
		w.shown.Disc.Position, w.shown.Disc.Velocity = w.shown.Disc.Position.Add(p), w.shown.Disc.Velocity.Add(v)
	}
}

func (w *writer) timers(step [2]float32) {
	w.setStep(-1, 3, Vec3{step[0], step[1]})
	w.shown.Pause.PausedTimer += step[0]
	w.shown.Pause.UnpausedTimer += step[1]
}

func (w *writer) repeat(kind block) {
	s := w.steps[-1]
	switch kind {
	case blockPause:
		w.shown.Pause.PausedTimer += s[3][0]
		w.shown.Pause.UnpausedTimer += s[3][1]
	case blockVR:
		w.shown.VR.Position = w.shown.VR.Position.Add(s[0])
	case blockDisc:
		w.shown.Disc.Position, w.shown.Disc.Velocity = w.shown.Disc.Position.Add(s[1]), w.shown.Disc.Velocity.Add(s[2])
	}
}

func (w *writer) setStep(user int64, i int, v Vec3) {
	s := w.steps[user]
	s[i] = v
	w.steps[user] = s
}

func (w *writer) teams(f *Frame, first bool) {
	mask := len(w.b)
	w.b = append(w.b, flagBits(f.Teams[0].Possession, f.Teams[1].Possession))
	var next [3][]Player
	for t := range f.Teams {
		if first || f.Teams[t].Stats != w.shown.Teams[t].Stats {
			w.b[mask] |= 4 << t
			w.b = appendStatBlock(w.b, &f.Teams[t].Stats, &w.shown.Teams[t].Stats)
		}
		w.b = append(w.b, byte(len(f.Teams[t].Players)))
		for i := range f.Teams[t].Players {
			next[t] = append(next[t], w.player(&f.Teams[t].Players[i]))
		}
	}
	for t := range next {
		w.shown.Teams[t].Players = next[t]
	}
}

func appendStatBlock(b []byte, now, before *Stats) []byte {
	for _, i := range statsBefore {
		b = append(b, byte(now.Counts[i]-before.Counts[i]))
	}
	b = appendHalf(b, now.PossessionTime-before.PossessionTime)
	return le.AppendUint16(b, uint16(now.Counts[statsStuns]-before.Counts[statsStuns]))
}

// player writes a player and returns it as a reader has it.
func (w *writer) player(p *Player) Player {
	var base Player
	known := false
	for t := range w.shown.Teams {
		for i := range w.shown.Teams[t].Players {
			if o := &w.shown.Teams[t].Players[i]; o.UserID == p.UserID && !known {
				base, known = *o, true
			}
		}
	}
	steps := w.steps[p.UserID]
	if !known {
		steps = [4]Vec3{}
	}
	shown := *p
	w.b = append(w.b, w.ref(p.Name), byte(p.ID))
	mask := len(w.b)
	w.b = append(w.b, flagBits(p.Possession, p.Blocking, p.Stunned, p.Invulnerable, w.layout.emotes && p.Emote))
	if p.HasStats && (!base.HasStats || p.Stats != base.Stats) {
		w.b[mask] |= w.layout.stats
		w.b = appendStatBlock(w.b, &p.Stats, &base.Stats)
	}
	holding := w.layout.holdingOn(w.kind)
	if !known || p.Ping != base.Ping || p.Loss != base.Loss || holding && p.Holding != base.Holding {
		w.b[mask] |= w.layout.ping
		w.b = le.AppendUint16(w.b, uint16(p.Ping-base.Ping))
		w.b = appendHalf(w.b, p.Loss-base.Loss)
		shown.Loss = base.Loss + fromHalf(toHalf(p.Loss-base.Loss))
		if holding {
			w.b[mask] |= w.layout.holding
			for _, s := range p.Holding {
				w.b = append(w.b, byte(slices.Index(holdings[:], s)))
			}
		}
	}
	if v := sub(p.Velocity, base.Velocity); v != (Vec3{}) {
		w.b[mask] |= 128
		w.b = appendVec(w.b, v)
		shown.Velocity = base.Velocity.Add(halves(v))
	}
	poses := len(w.b)
	w.b = append(w.b, 0)
	for i := range p.Poses {
		step := halves(sub(p.Poses[i].Position, base.Poses[i].Position))
		if !known || step != steps[i] {
			w.b[poses] |= 1 << (2 * i)
			w.b = appendVec(w.b, step)
		}
		steps[i] = step
		shown.Poses[i].Position = base.Poses[i].Position.Add(step)
		if !known || packQuat(p.Poses[i].Rotation) != packQuat(base.Poses[i].Rotation) {
			w.b[poses] |= 2 << (2 * i)
			w.b = appendQuat(w.b, p.Poses[i].Rotation)
		}
	}
	w.steps[p.UserID] = steps
	if w.kind == combat && w.layout.loadouts {
		w.b = append(w.b, byte(slices.Index(loadouts[:], *p.Loadout)))
	}
	return shown
}

func (w *writer) boneSection(f *Frame) {
	n := len(f.Bones)
	w.b = append(w.b, byte(n<<1)|flagBits(n > 0))
	if n != len(w.bones) {
		w.bones = make([]Bones, n)
		for i := range w.bones {
			for j := range w.bones[i].Rotations {
				w.bones[i].Rotations[j] = Identity
			}
		}
	}
	for i := range f.Bones {
		w.bonePlayer(&f.Bones[i], &w.bones[i])
	}
}

func (w *writer) bonePlayer(now, base *Bones) {
	masks := len(w.b)
	w.b = append(w.b, make([]byte, 6)...)
	for i := range now.Positions {
		var n [3]int64
		for j, x := range sub(now.Positions[i], base.Positions[i]) {
			n[j] = int64(min(max(x*4096, -8192), 8191))
		}
		if n == [3]int64{} {
			continue
		}
		w.b[masks+i/8] |= 1 << (i % 8)
		for j := range n {
			w.b = appendVarint(w.b, n[j])
			base.Positions[i][j] += float32(n[j]) / 4096
		}
	}
	for i := range now.Rotations {
		b := base.Rotations[i]
		turn := now.Rotations[i].Mul(Quat{-b[0], -b[1], -b[2], b[3]})
		if 1-math.Abs(float64(turn[3])) < 1e-5 {
			continue
		}
		w.b[masks+3+i/8] |= 1 << (i % 8)
		w.b = appendQuat(w.b, turn)
		base.Rotations[i] = fromPacked(packQuat(turn)).Mul(b)
	}
}

func (w *writer) flush() {
	if w.b == nil {
		return
	}
	w.chunks = append(w.chunks, pack(w.compression, w.b))
	w.b = nil
}

func pack(compression uint8, b []byte) []byte {
	switch {
	case compression == gzipped:
		var buf bytes.Buffer
		z := gzip.NewWriter(&buf)
		z.Write(b)
		z.Close()
		return buf.Bytes()
	case compression != stored && compression <= zstdLast:
		z, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		return z.EncodeAll(b, nil)
	}
	return b
}

// version returns the version byte of the layout.
func (w *writer) version() byte {
	switch w.layout {
	case layoutV1:
		return 1
	case layoutV2:
		return 2
	}
	return 3
}

// file returns the whole file.
func (w *writer) file() []byte {
	w.flush()
	b := []byte{w.version()}
	b = le.AppendUint16(b, uint16(w.interval))
	b = append(b, w.compression)
	b = append(b, "Tester\x00"...)
	b = append(b, "0123456789abcdef"...)
	b = append(b, 192, 0, 2, 1)
	b = append(b, byte(len(w.table)))
	for _, e := range w.table {
		b = append(append(b, e.Name...), 0)
	}
	for _, e := range w.table {
		b = le.AppendUint64(b, uint64(e.UserID))
	}
	for _, e := range w.table {
		b = append(b, e.Number)
	}
	for _, e := range w.table {
		b = append(b, e.Level)
	}
	b = append(b, 3, 0x21, w.mapIndex<<1|flagBits(w.private))
	b = le.AppendUint32(b, uint32(len(w.chunks)))
	for _, c := range w.chunks {
		b = le.AppendUint32(b, uint32(len(c)))
	}
	return append(b, bytes.Join(w.chunks, nil)...)
}

// A match invents what happens in a session.
type match struct {
	kind  mapKind
	bones bool
	rand  *rand.Rand
	f     Frame
	n     int
	table []TableEntry
}

func newMatch(kind mapKind, players int, bones bool) *match {
	m := &match{kind: kind, bones: bones, rand: rand.New(rand.NewPCG(1, uint64(players)))}
	for i := range players {
		m.table = append(m.table, TableEntry{"Player-" + string(rune('A'+i)), 1_000_000_007 * int64(i+1), uint8(i + 10), uint8(i + 1)})
	}
	m.f = Frame{
		Time: 1_700_000_000_000, Clock: 600, Status: "pre_match",
		Pause: Pause{State: "unpaused", UnpausedTeam: "none", RequestedTeam: "none"},
		Score: Score{Team: "blue", GoalType: NoGoal, Scorer: invalid, Assist: invalid},
		VR:    Pose{Position: Vec3{0, 1.6, 0.2}, Rotation: Identity},
		Disc:  Disc{Pose: Pose{Rotation: Identity}},
		Rules: Rules{By: invalid},
	}
	if kind == combat {
		m.f.Status, m.f.Pause.State = "", "none"
	}
	for i := range m.table {
		m.join(i)
	}
	return m
}

func (m *match) join(i int) {
	e := m.table[i]
	p := Player{
		Name: e.Name, UserID: e.UserID, ID: int32(i), Number: int32(e.Number), Level: int32(e.Level), Ping: 40, HasStats: true,
		Holding: [2]string{"none", "geo"}, Loadout: &loadouts[i],
	}
	for k := range p.Poses {
		p.Poses[k] = Pose{Position: m.vec(20), Rotation: m.turn(3)}
	}
	m.f.Teams[i%2].Players = append(m.f.Teams[i%2].Players, p)
}

func (m *match) vec(scale float32) Vec3 {
	return Vec3{(m.rand.Float32() - 0.5) * scale, (m.rand.Float32() - 0.5) * scale, (m.rand.Float32() - 0.5) * scale}
}

func (m *match) turn(angle float64) Quat {
	v := m.vec(1)
	s := math.Sin(angle/2) / math.Sqrt(float64(v[0]*v[0]+v[1]*v[1]+v[2]*v[2])+1e-9)
	return Quat{float32(float64(v[0]) * s), float32(float64(v[1]) * s), float32(float64(v[2]) * s), float32(math.Cos(angle / 2))}
}

// next returns the next frame, which stays as it is.
func (m *match) next() *Frame {
	f := &m.f
	m.n++
	f.Time += 33
	f.Clock -= 1.0 / 30
	if m.n == 20 && m.kind != combat {
		f.Status = "playing"
	}
	if m.n%97 == 0 {
		f.Throw[m.n%13] = fromHalf(toHalf(m.rand.Float32() * 20))
	}
	if m.n%150 == 0 && m.kind == arena {
		f.Points[m.n/150%2] += 2
		f.Score = Score{
			DiscSpeed: 12.5, Distance: 8, Team: teamCodes[m.n/150%2], GoalType: "SLAM DUNK", Points: 2, Scorer: m.table[0].Name, Assist: invalid,
		}
	}
	if m.kind == combat {
		f.Points = [2]float32{float32(m.n) / 64, 0.5}
		f.Payload = Payload{Contested: m.n%40 > 20, Checkpoint: m.n / 100, Distance: float32(m.n) / 32}
	}
	f.Disc.Velocity = m.vec(2)
	f.Disc.Position = f.Disc.Position.Add(m.vec(0.3))
	f.Disc.Rotation = m.turn(0.5)
	f.VR.Position = f.VR.Position.Add(m.vec(0.01))
	for t := range f.Teams {
		players := slices.Clone(f.Teams[t].Players)
		for i := range players {
			m.move(&players[i])
		}
		f.Teams[t].Players = players
	}
	if m.bones {
		m.moveBones()
	}
	now := *f
	return &now
}

func (m *match) move(p *Player) {
	step := m.vec(0.4)
	for k := range p.Poses {
		p.Poses[k].Position = p.Poses[k].Position.Add(step)
		p.Poses[k].Rotation = m.turn(0.05).Mul(p.Poses[k].Rotation)
	}
	p.Velocity = m.vec(6)
	p.Ping += int32(m.rand.IntN(5) - 2)
	p.Stunned = (m.n/10+int(p.ID))%7 == 0
	p.Possession = (m.n/30)%16 == int(p.ID)
	if m.n%25 == 0 {
		p.Stats.Counts[m.n/25%11]++
		p.Stats.PossessionTime += 0.25
	}
}

func (m *match) moveBones() {
	players := 0
	for t := range m.f.Teams {
		players += len(m.f.Teams[t].Players)
	}
	next := make([]Bones, players)
	if copy(next, m.f.Bones) != players {
		for i := range next {
			for j := range next[i].Rotations {
				next[i].Positions[j], next[i].Rotations[j] = m.vec(1.5), m.turn(1)
			}
		}
	}
	for i := range next {
		for j := range next[i].Rotations {
			next[i].Positions[j] = next[i].Positions[j].Add(m.vec(0.01))
		}
	}
	m.f.Bones = next
}

// sample returns a file of n invented frames and the frames.
func sample(l *layout, mapIndex uint8, players, n int, bones bool, change func(*writer)) ([]byte, []*Frame) {
	h := Header{MapIndex: mapIndex}
	m := newMatch(h.kind(), players, bones)
	w := newWriter(l, mapIndex, m.table)
	if change != nil {
		change(w)
	}
	var frames []*Frame
	for range n {
		f := m.next()
		frames = append(frames, f)
		w.add(f)
	}
	return w.file(), frames
}

// open returns a Reader of a file that must open.
func openBytes(t testing.TB, b []byte) *butterReader {
	t.Helper()
	r, err := newButterReader(t.Context(), formats.BytesReader(b), int64(len(b)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// frames decodes a whole file.
func allFrames(t testing.TB, r *butterReader) []Frame {
	t.Helper()
	var all []Frame
	var from carry
	for n := range r.Header.Chunks {
		x, bad, err := r.chunkText(t.Context(), n)
		if bad != nil || err != nil {
			t.Fatal(n, bad, err)
		}
		c, err := r.decode(t.Context(), n, x, true, from, 0)
		if err != nil || c.failed != nil {
			t.Fatal(n, err, c)
		}
		all = append(all, c.frames...)
		from = c.end
	}
	return all
}
