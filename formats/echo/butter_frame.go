package echo

import (
	"context"

	"recfs/formats/internal/wire"
)

// The markers at the start of a frame.
const (
	keyMarker   = 0xfefc
	deltaMarker = 0xfefe
)

// A decoder turns the bytes of one chunk into frames. What a frame does not store it takes from the
// frame before.
type decoder struct {
	*wire.Cursor
	feed   *feed // of the bytes that follow; nil: none do
	layout *layout
	kind   mapKind
	users  *users

	// With reuse, frames are looked at one by one: the players and bones of a frame are valid until
	// the next frame is decoded. With lean, frames have no bones or stats and players no rotations.
	reuse, lean bool
	reused      bool // reuse was set for the frame before

	frame       Frame // the running state, without players
	vrStep      Vec3
	discStep    [2]Vec3    // position, velocity
	timerStep   [2]float32 // paused, unpaused
	players     []Player   // of the frame before, teams in order
	next        []Player   // of this frame
	spare       []Player   // memory for the next frame, if reuse
	courses     []course   // of players
	nextCourses []course
	base        [256]uint16 // by users.same one more than the index in players, 0: none; while a frame is read
	carry       carry
	badRef      bool // a player reference beyond the table was seen
	playerSlab  int  // how many players were allocated at once
	boneSlab    []Bones
}

// A course is what the decoder knows of a player beside the frame: the differences of positions,
// which may have to be added again.
type course struct {
	steps [4]Vec3
	team  int
	ref   uint8
}

func newDecoder(l *layout, kind mapKind, h *Header, data []byte, more *feed, from carry) *decoder {
	d := &decoder{Cursor: wire.NewCursor(butterName, data, 0), feed: more, layout: l, kind: kind, users: h.users, carry: from.clone()}
	switch kind {
	case arena:
		d.frame.Kind = Arena
	case combat:
		d.frame.Kind = Combat
	}
	d.frame.Has = HasPause
	d.frame.Rounds = [2]int64{int64(h.BlueScore), int64(h.OrangeScore)}
	if kind != combat {
		d.frame.Has |= HasStatus | HasRestart | HasRules
	} else {
		d.frame.Lacks = 1<<LacksStatus | 3<<LacksHolder
	}
	d.frame.Pause = Pause{State: pauseStates[0], UnpausedTeam: "none", RequestedTeam: "none"}
	d.frame.Rules.By = invalid
	d.frame.VR.Rotation, d.frame.Disc.Rotation = Identity, Identity
	return d
}

// fill makes sure that a whole frame can be read, unless the text ends before.
func (d *decoder) fill(ctx context.Context) error {
	if d.feed == nil || d.Len() >= maxFrame || d.Err() != nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	at := d.Offset()
	b, err := d.feed.more(d.Rest())
	d.Cursor = wire.NewCursor(butterName, b, at)
	if len(b) < maxFrame {
		d.feed = nil
	}
	return err
}

// decode reads the next frame; first says that it is the first of the chunk. If decoding fails, the
// frame must not be used.
func (d *decoder) decode(first bool) (Frame, error) {
	d.head(first)
	mask := d.U8()
	for bit, b := range d.layout.blocks {
		if mask>>bit&1 != 0 {
			d.block(b, first)
		} else if !first {
			d.repeat(b)
		}
	}
	d.teams()
	f := d.frame
	if d.layout.bones {
		if f.Bones = d.bones(); f.Bones != nil {
			f.Has |= HasBones
		}
	}
	if err := d.Err(); err != nil {
		return Frame{}, err
	}
	d.emit(&f)
	return f, nil
}

// head reads marker, time and clock.
func (d *decoder) head(first bool) {
	marker := d.U16()
	switch {
	case d.Err() != nil:
	case marker == keyMarker && first:
		d.frame.Time = int64(d.U64())
		d.frame.Clock = d.F32()
	case marker == deltaMarker && !first:
		d.frame.Time += int64(d.U16())
		d.frame.Clock += d.F32()
	case marker == keyMarker || marker == deltaMarker:
		d.Fail("a key frame where none is due, or none where one is")
	default:
		d.Fail("no frame begins with %#04x", marker)
	}
}

// block reads one block that the frame has.
func (d *decoder) block(b block, first bool) {
	f := &d.frame
	switch b {
	case blockStatus:
		f.Status = status(d.U8())
		d.points()
		d.inputs()
	case blockOldStatus:
		f.Status = status(d.U8())
	case blockOldPoints:
		f.Points = [2]float32{float32(d.U8()), float32(d.U8())}
	case blockOldInputs:
		d.inputs()
	case blockPause:
		d.pause(first)
	case blockScore:
		d.score()
	case blockThrow:
		for i := range f.Throw {
			f.Throw[i] = half(d.Cursor)
		}
		f.Has |= HasThrow
	case blockVR:
		d.vrStep = vec3(d.Cursor)
		f.VR.Position = f.VR.Position.Add(d.vrStep)
		f.VR.Rotation = quat(d.Cursor)
	case blockDisc:
		d.disc()
	case blockPayload:
		f.Payload.Contested = d.U8() != 0
		f.Payload.Checkpoint, f.Payload.Defenders = int(d.U8()), int(d.U8())
		f.Payload.Distance, f.Payload.Speed = half(d.Cursor), half(d.Cursor)
	case blockRules:
		f.Rules.At = int64(d.U64())
		f.Rules.By = string(d.CString(maxString))
	}
}

// repeat does what the absence of a block means: the differences of the last such block are added
// again.
func (d *decoder) repeat(b block) {
	f := &d.frame
	switch b {
	case blockPause:
		f.Pause.PausedTimer += d.timerStep[0]
		f.Pause.UnpausedTimer += d.timerStep[1]
	case blockVR:
		f.VR.Position = f.VR.Position.Add(d.vrStep)
	case blockDisc:
		f.Disc.Position = f.Disc.Position.Add(d.discStep[0])
		f.Disc.Velocity = f.Disc.Velocity.Add(d.discStep[1])
	}
}

var statuses = [...]string{
	"", "", "pre_match", "round_start", "playing", "score", "round_over", "post_match", "pre_sudden_death",
	"sudden_death", "post_sudden_death",
}

func status(n uint8) string {
	if int(n) < len(statuses) {
		return statuses[n]
	}
	return ""
}

func (d *decoder) points() {
	switch d.kind {
	case arena:
		d.frame.Points = [2]float32{float32(d.U8()), float32(d.U8())}
	case combat:
		d.frame.Points = [2]float32{half(d.Cursor), half(d.Cursor)}
	}
}

func (d *decoder) inputs() {
	n := d.U8()
	for i := range d.frame.Shoulders {
		d.frame.Shoulders[i] = n>>i&1 != 0
	}
}

var (
	pauseStates = [...]string{"unpaused", "paused", "unpausing", "pausing", "none", pauseRequested}
	teamCodes   = [...]string{"blue", "orange", "spectator", "none"}
)

// pauseRequested is the one further state that the game is known to report.
const pauseRequested = "paused_requested"

func (d *decoder) pause(first bool) {
	f := &d.frame
	flags := d.U8()
	f.Restart = [2]int64{int64(flags & 1), int64(flags >> 1 & 1)}
	f.Pause.RequestedTeam, f.Pause.UnpausedTeam = teamCodes[flags>>2&3], teamCodes[flags>>4&3]
	f.Pause.State = pauseRequested
	if d.layout.pauseState {
		if n := d.U8(); int(n) < len(pauseStates) {
			f.Pause.State = pauseStates[n]
		}
	} else if n := flags >> 6; n < 3 {
		f.Pause.State = pauseStates[n]
	}
	step := [2]float32{half(d.Cursor), half(d.Cursor)}
	if first {
		step = [2]float32{} // never stored
		if f.Pause.State != "unpaused" && f.Pause.State != "none" {
			f.Pause.PausedTimer, f.Pause.UnpausedTimer = d.carry.timers[0], d.carry.timers[1]
		}
	}
	d.timerStep = step
	f.Pause.PausedTimer += step[0]
	f.Pause.UnpausedTimer += step[1]
}

var goalTypes = [...]string{
	"unknown", "BOUNCE SHOT", "INSIDE SHOT", "LONG BOUNCE SHOT", "LONG SHOT", "SELF GOAL", "SLAM DUNK", "BUMPER SHOT",
	"HEADBUTT",
}

func (d *decoder) score() {
	s := &d.frame.Score
	n, scorer, assist := d.U8(), d.U8(), d.U8()
	s.Team = teamCodes[n&3]
	s.Points = 2 + int64(n>>2&1)
	s.GoalType = goalTypes[0]
	if int(n>>3) < len(goalTypes) {
		s.GoalType = goalTypes[n>>3]
	}
	if n>>3 == 0 && scorer == 0 {
		s.GoalType, s.Points = NoGoal, 0
	}
	d.refer(scorer)
	d.refer(assist)
	s.Scorer, s.Assist = d.users.at(scorer).name, d.users.at(assist).name
	s.DiscSpeed, s.Distance = half(d.Cursor), half(d.Cursor)
	if d.kind != combat { // whose session has no such key
		d.frame.Has |= HasScore
	}
}

func (d *decoder) disc() {
	f := &d.frame
	d.discStep[0] = vec3(d.Cursor)
	f.Disc.Position = f.Disc.Position.Add(d.discStep[0])
	f.Disc.Rotation = quat(d.Cursor)
	d.discStep[1] = vec3(d.Cursor)
	f.Disc.Velocity = f.Disc.Velocity.Add(d.discStep[1])
	f.Has |= HasDisc
}

// emit gives f the players of this frame, and makes them those of the frame before.
func (d *decoder) emit(f *Frame) {
	f.Lacks.Set(LacksClock, d.kind == combat && f.Clock == 0)
	if d.kind == combat || f.Has&HasDisc == 0 { // whose session has none
		f.Lacks |= 127 << LacksDisc
	}
	at := 0
	for t := range f.Teams {
		start := at
		for at < len(d.next) && d.nextCourses[at].team == t {
			at++
		}
		f.Teams[t].Players = d.next[start:at:at]
	}
	f.Holder = f.possession()
	d.spare = nil
	if d.reuse && d.reused {
		d.spare = d.players
	}
	d.reused = d.reuse
	d.players, d.courses, d.nextCourses = d.next, d.nextCourses, d.courses[:0]
}

// fewPlayers is how many players there is room for at first.
const fewPlayers = 8

// room returns memory for the players of a frame, behind those of the frame before if it fits.
func (d *decoder) room() []Player {
	n := len(d.players)
	if d.reuse {
		if cap(d.spare) == 0 {
			return make([]Player, 0, max(n, fewPlayers))
		}
		return d.spare[:0]
	}
	if cap(d.players) < 2*n {
		d.playerSlab = slab(d.playerSlab, n)
		return make([]Player, 0, d.playerSlab)
	}
	return d.players[n:]
}

// slabFrames is the number of frames for which players or bones are allocated at once, at most.
const slabFrames = 32

// slab returns how many to allocate for a frame that has n, after a slab of before. A chunk of few
// frames leaves at most as much memory empty as it fills.
func slab(before, n int) int { return max(n, min(2*before, slabFrames*n)) }
