package echo

import (
	"fmt"
	"math"
)

// Kind is what decides which keys a session has.
type Kind uint8

// The kinds of map.
const (
	Other Kind = iota // lobby, tutorial, unknown
	Arena
	Combat
)

// A Match holds what is the same in every frame of a recording; nil: the recording does not say.
type Match struct {
	SessionID, SessionIP                  *string
	MatchType, MapName                    *string
	ClientName                            *string
	Private                               *bool
	TotalRounds, BlueRounds, OrangeRounds *int64
	Emotes                                bool // whether the recording knows is_emote_playing
}

// Has says which parts a frame has.
type Has uint16

// The parts of a frame that can be missing.
const (
	HasStatus Has = 1 << iota
	HasScore
	HasThrow
	HasPause
	HasRestart
	HasRules
	HasDisc
	HasBones

	// What decides, besides, which members a session has: the kind of map and the recorder.
	inArena // or on any other map that is not combat
	inCombat
	hasClock
	hasEmotes
)

// Lacks has a bit for each value of a frame, a player or stats that a text does not have, or has as
// another type. In .butter nothing is lacking. Such a value is 0, false or empty here, and is shown
// as null or not at all.
type Lacks uint64

// The first bits of the values of a frame.
const (
	LacksPoints  = 0                         // blue, orange
	LacksRestart = LacksPoints + 2           // blue, orange
	LacksPause   = LacksRestart + 2          // as in Pause
	LacksScore   = LacksPause + 3            // as in Score
	LacksThrow   = LacksScore + 7            // as in Throw
	LacksRules   = LacksThrow + len(Throw{}) // at, by
	LacksDisc    = LacksRules + 2            // position, velocity
	LacksBounces = LacksDisc + 6
	LacksStatus  = LacksBounces + 1
	LacksClock   = LacksStatus + 1
	LacksRounds  = LacksClock + 1  // blue, orange
	LacksHolder  = LacksRounds + 2 // team, player

	LacksFrame Lacks = 1<<(LacksHolder+2) - 1 // all
)

// The bits of the values of a player.
const (
	LacksName = iota
	LacksUserID
	LacksID
	LacksNumber
	LacksLevel
	LacksPing
	LacksFlags   // possession, blocking, stunned, invulnerable
	LacksStunned = LacksFlags + 2
	LacksPlaces  = LacksFlags + 4 // head, velocity, body, left hand, right hand

	LacksIdentity Lacks = 1<<LacksUserID | 1<<LacksName
	LacksAllFlags Lacks = 15 << LacksFlags
	LacksPlayer   Lacks = 1<<(LacksPlaces+15) - 1 // all
)

// LacksStats are the bits of all stats: possession time, and those of StatKeys.
const LacksStats Lacks = 1<<(1+len(StatKeys)) - 1

// At reports whether the value of a bit is lacking.
func (l Lacks) At(bit int) bool { return l>>bit&1 != 0 }

// Of returns the bits of n values.
func (l Lacks) Of(first, n int) Lacks { return l >> first & (1<<n - 1) }

// Set says whether the value of a bit is lacking.
func (l *Lacks) Set(bit int, lacks bool) {
	if *l &^= 1 << bit; lacks {
		*l |= 1 << bit
	}
}

// A Frame is the whole state at one moment.
type Frame struct {
	Lacks     Lacks
	Time      int64 // milliseconds of the recorder's clock since 1970
	Clock     float32
	Kind      Kind
	Has       Has
	Status    string
	Points    [2]float32 // blue, orange
	Rounds    [2]int64   // won by blue and orange
	Bounces   int64      // of the disc
	Holder    [2]int64   // team and place of the player who has the disc
	Shoulders [4]bool    // left, right, left 2, right 2
	Restart   [2]int64   // blue, orange
	Pause     Pause
	Score     Score
	Throw     Throw
	VR        Pose
	Disc      Disc
	Payload   Payload
	Rules     Rules
	Teams     [3]Team
	Bones     []Bones // one per player in the order of user_bones; nil: none
}

// possession returns the team and the place in it of the player who has the disc, the first of the
// two playing teams; -1 twice if nobody has it.
func (f *Frame) possession() [2]int64 {
	for t := range f.Teams[:2] {
		for i := range f.Teams[t].Players {
			if f.Teams[t].Players[i].Possession {
				return [2]int64{int64(t), int64(i)}
			}
		}
	}
	return [2]int64{-1, -1}
}

// Pause is the session's object pause.
type Pause struct {
	State, UnpausedTeam, RequestedTeam string
	UnpausedTimer, PausedTimer         float32
}

// Score is the session's object last_score.
type Score struct {
	DiscSpeed, Distance float32
	Team, GoalType      string
	Points              int64
	Scorer, Assist      string
}

// NoGoal is the goal type before the first goal.
const NoGoal = "[NO GOAL]"

// Throw has the values of last_throw in the order of ThrowKeys.
type Throw [13]float32

// ThrowKeys are the keys of last_throw.
var ThrowKeys = [len(Throw{})]string{
	"arm_speed", "total_speed", "off_axis_spin_deg", "wrist_throw_penalty", "rot_per_sec", "pot_speed_from_rot",
	"speed_from_arm", "speed_from_movement", "speed_from_wrist", "wrist_align_to_throw_deg",
	"throw_align_to_movement_deg", "off_axis_penalty", "throw_move_penalty",
}

// Disc is the session's object disc.
type Disc struct {
	Pose
	Velocity Vec3
}

// Payload has the values of combat maps.
type Payload struct {
	Contested             bool
	Checkpoint, Defenders int
	Distance, Speed       float32
}

// Rules says when the rules of a private match were changed last, and by which player.
type Rules struct {
	At int64
	By string
}

// A Team is one of blue, orange and spectators.
type Team struct {
	Possession bool
	Stats      Stats
	Players    []Player
}

// TeamNames are the names of the three teams in events and tables.
var TeamNames = [3]string{"blue", "orange", "spectator"}

// Stats are the counters of a player or a team, in the order of StatKeys.
type Stats struct {
	Lacks          Lacks
	PossessionTime float32
	Counts         [11]int32
}

// StatKeys are the keys of the integers among the stats.
var StatKeys = [len(Stats{}.Counts)]string{
	"points", "saves", "goals", "stuns", "passes", "catches", "steals", "blocks", "interceptions", "assists", "shots_taken",
}

// The poses of a player.
const (
	Head = iota
	Body
	LeftHand
	RightHand
)

// A Player is one player in one frame.
type Player struct {
	Lacks                                       Lacks
	Name                                        string
	UserID                                      int64
	ID                                          int32 // playerid, the slot in the match
	Number, Level, Ping                         int32
	Loss                                        float32
	Possession, Blocking, Stunned, Invulnerable bool
	Emote, HasStats                             bool
	Stats                                       Stats
	Holding                                     [2]string // left, right; empty: not given
	Velocity                                    Vec3
	Poses                                       [4]Pose
	Loadout                                     *Loadout // nil: not given
}

// A Loadout is what a player carries on combat maps.
type Loadout struct{ Weapon, Ordnance, TacMod, Arm string }

// Bones are the bones of one player, local to the player.
type Bones struct {
	Positions [NumBones]Vec3
	Rotations [NumBones]Quat
}

// NumBones is how many bones a player has.
const NumBones = 23

// A Pose is a place and a direction.
type Pose struct {
	Position Vec3
	Rotation Quat
}

// places are where players.csv and the table have a player: head, velocity, body and hands.
func (p *Player) places() [5]*Vec3 {
	return [...]*Vec3{
		&p.Poses[Head].Position, &p.Velocity, &p.Poses[Body].Position, &p.Poses[LeftHand].Position, &p.Poses[RightHand].Position,
	}
}

// flags are the flags of players.csv and the table.
func (p *Player) flags() [4]bool {
	return [...]bool{p.Possession, p.Blocking, p.Stunned, p.Invulnerable}
}

// Vec3 is x, y, z in metres.
type Vec3 [3]float32

// Add returns the sum, rounded once per component.
func (v Vec3) Add(w Vec3) Vec3 { return Vec3{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }

// Quat is x, y, z, w.
type Quat [4]float32

// Identity is the rotation that changes nothing.
var Identity = Quat{0, 0, 0, 1}

// Vectors returns the directions in which the API gives a rotation. The conversions keep compilers
// from fusing a multiplication with an addition, which would round once where the game rounds
// twice.
func (q Quat) Vectors() (forward, left, up Vec3) {
	x, y, z, w := q[0], q[1], q[2], q[3]
	xx, yy, zz := float32(x*x), float32(y*y), float32(z*z)
	xy, xz, yz := float32(x*y), float32(x*z), float32(y*z)
	wx, wy, wz := float32(w*x), float32(w*y), float32(w*z)
	forward = Vec3{2 * (xz + wy), 2 * (yz - wx), 1 - float32(2*(xx+yy))}
	up = Vec3{2 * (xy - wz), 1 - float32(2*(xx+zz)), 2 * (yz + wx)}
	return forward, cross(up, forward), up
}

func cross(a, b Vec3) Vec3 {
	return Vec3{
		float32(a[1]*b[2]) - float32(a[2]*b[1]),
		float32(a[2]*b[0]) - float32(a[0]*b[2]),
		float32(a[0]*b[1]) - float32(a[1]*b[0]),
	}
}

// Mul returns the product q*b. It is not normalised.
func (q Quat) Mul(b Quat) Quat {
	part := func(i, j, k int) float32 {
		return float32(float32(q[i]*b[3])+float32(b[i]*q[3])) + float32(float32(q[j]*b[k])-float32(q[k]*b[j]))
	}
	dot := float32(float32(q[0]*b[0])+float32(q[1]*b[1])) + float32(q[2]*b[2])
	return Quat{part(0, 1, 2), part(1, 2, 0), part(2, 0, 1), float32(q[3]*b[3]) - dot}
}

// Unpack rebuilds a unit quaternion from three of its components and the index of the largest,
// which is positive. If there is none the rotation is not defined, and the answer is Identity.
func Unpack(largest int, a, b, c float32) Quat {
	rest := 1 - float32(a*a) - float32(b*b) - float32(c*c)
	if !(rest >= 0) {
		return Identity
	}
	d := float32(math.Sqrt(float64(rest)))
	switch largest {
	case 0:
		return Quat{d, a, b, c}
	case 1:
		return Quat{a, d, b, c}
	case 2:
		return Quat{a, b, d, c}
	default:
		return Quat{a, b, c, d}
	}
}

// Display returns a game clock as MM:SS.cc. A clock that cannot be shown so is 00:00.00.
func Display(b []byte, clock float32) []byte {
	n := int64(0)
	if clock > 0 && clock < 1e9 {
		n = int64(float64(clock) * 100)
	}
	return fmt.Appendf(b, "%02d:%02d.%02d", n/6000, n/100%60, n%100)
}
