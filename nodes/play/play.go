// Package play is what a recording shows over time, as values: frames, events, players, and what
// there is to know before the first of them (docs/tree/page.md section 3). Formats make them, and
// whoever draws a recording gets them from the directory of it, as it gets the tree.
package play

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Recording is the [nodes.Dir] of a recording that plays.
type Recording interface {
	// About tells what there is to see. Nothing is decoded for it.
	About(ctx context.Context) (*About, error)
	// Frames returns a block of frames, of which each is a step of ticks behind the one before. Frame
	// i of block b is tick (b*n+i)*step, where n is FramesPerBlock of the kind. Nobody changes it.
	Frames(ctx context.Context, block int64, step int) (*Block, error)
	// Events returns those that fit, and how far it came.
	Events(ctx context.Context, q Query) (*Found, error)
	// Players returns those from number first on, limit at most, whose names have the words q, and how
	// many have them.
	Players(ctx context.Context, q string, first, limit int) ([]Player, int, error)
}

// A BadParameter names a parameter whose value makes no sense, such as a block that lies outside of
// a recording.
type BadParameter string

func (e BadParameter) Error() string { return "bad parameter: " + string(e) }

// Kinds of recordings.
const (
	Tee     = "tee"
	Map     = "map"
	HCRP    = "hcrp"
	Echo    = "echo"
	NetHack = "nethack"
)

// FramesPerBlock returns how many frames a block of a kind has.
func FramesPerBlock(kind string) int64 {
	if kind == NetHack {
		return 64
	}
	return 250
}

// IsStep reports whether frames of a kind may be so many ticks apart.
func IsStep(kind string, step int) bool {
	return step == 1 || kind != NetHack && 1 < step && step <= 64 && step&(step-1) == 0
}

// LaneValues is how many values a Lane has at most.
const LaneValues = 600

// MaxMarks is how many marks an About has at most.
const MaxMarks = 500

// MaxEvents is how many events a Block has at most.
const MaxEvents = 1000

// MaxText is how many bytes a name or the text of an Event has at most.
const MaxText = 1024

// Cut returns a text of MaxText bytes at most, with an ellipsis at the end of one that was longer.
func Cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	const ellipsis = "…"
	n := MaxText - len(ellipsis)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}

// An About is what there is to know of a recording before a frame of it is made.
type About struct {
	Status
	Kind   string      `json:"kind"`
	First  *int64      `json:"first"` // the first tick, nil if there is none
	Last   *int64      `json:"last"`
	TickMS *int        `json:"tick_ms"` // nil: frames have times
	Start  *string     `json:"start"`   // time of tick 0, RFC 3339
	Unit   string      `json:"unit"`    // "tile" of 32, "m" of 100, "block" of 32
	Bounds *[4]float64 `json:"bounds"`  // x0, y0, x1, y1 of all positions, nil: not known
	Lanes  []Lane      `json:"lanes"`
	Marks  []Mark      `json:"marks"`
	More   int64       `json:"more"` // marks that are left out, evenly
	Map    *Ground     `json:"map"`
}

// Spread returns at most so many of n things, evenly, the first and the last among them.
func Spread[V any](n, most int, thing func(i int) V) []V {
	list := make([]V, 0, min(n, most))
	for i := range min(n, most) {
		if n > most {
			i = int(int64(i) * int64(n-1) / int64(most-1))
		}
		list = append(list, thing(i))
	}
	return list
}

// A Status is what a list of recordings tells of one, too.
type Status struct {
	Format   string  `json:"format"`
	Complete *bool   `json:"complete"`
	Finished *bool   `json:"finished"`
	Problems *int64  `json:"problems"`
	Error    *string `json:"error"`
}

// A Lane is a number over the time of a recording, in LaneValues pieces at most.
type Lane struct {
	Name   string    `json:"name"` // "players", "activity" in bytes a tick
	Values []float64 `json:"values"`
}

// A Mark is a moment to jump to.
type Mark struct {
	Tick int64  `json:"t"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	ID   ID     `json:"id,omitempty"`
}

// A Ground is the map of a recording that is played on one.
type Ground struct {
	Path   string `json:"path"` // of the map, from the folder in which the recording lies
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// A Block is a run of frames.
type Block struct {
	First  int64 // the tick of the first frame
	Frames int
	MS     []int64 // when each frame is, since tick 0; nil: TickMS tells
	Tracks []Track
	Events []Event
	More   int64 // events that are left out
	Game   *Game // Echo VR
	Screen *Screens
}

// A Track is an entity for as long as it is there, in a Block. A column has a number for each of
// its N frames; nil: not known.
type Track struct {
	ID         ID
	Name       string
	Team       string
	Kind       string
	Color      string // #rrggbb, "": none
	At, N      int    // its first frame, and how many there are
	X, Y, Z, A []int32
	S          []int32 // bits, docs/tree/page.md section 3
}

// Round returns a number as columns have it, of which there are so many to one: the nearest, the
// last there is for one that is too large, and 0 for none.
func Round(v float64, per float64) int32 {
	v = math.Round(v * per)
	if v != v {
		return 0
	}
	return int32(max(math.MinInt32, min(v, math.MaxInt32)))
}

// Bounds returns the bounds of positions of which there are so many to one.
func Bounds(per, x0, y0, x1, y1 float64) *[4]float64 {
	return &[4]float64{
		float64(Round(x0, per)), float64(Round(y0, per)), float64(Round(x1, per)), float64(Round(y1, per)),
	}
}

// A Game is the score of an Echo VR match, at each frame.
type Game struct {
	Clock        []float64
	Blue, Orange []int32
	Status       []string
}

// Screens are what a terminal shows, at each frame.
type Screens struct {
	Ticks, Turns []int64
	Rows, Plain  [][]string // 24 lines a frame, nil: lost; Plain has no monsters
}

// An Event is something that happened at a tick.
type Event struct {
	Tick int64  `json:"t"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	Say  string `json:"say,omitempty"` // what somebody says in it: Text ends with that
	ID   ID     `json:"id,omitempty"`  // of the Track that did it
	To   ID     `json:"to,omitempty"`
	// Secret is what Text is with all that is secret; "": Text says it all.
	Secret string `json:"-"`
}

// Told returns the event with what is secret in it.
func (e Event) Told() Event {
	if e.Secret != "" {
		if e.Say != "" {
			e.Say = e.Secret[len(e.Text)-len(e.Say):]
		}
		e.Text = e.Secret
	}
	return e
}

// HasWords reports whether a text has all of these words, without regard to case.
func HasWords(text, words string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// A Query asks for events.
type Query struct {
	From  int64
	Back  bool     // towards the beginning
	Kinds []string // nil: all
	Words string   // all of which the text has, without regard to case
	ID    ID       // of who did it or whom it befell; "": any
	Limit int      // more if those of the last tick are
	Told  bool     // what is secret is told, and counts as text
}

// MaxChunks is how many chunks an answer to a Query decodes at most.
const MaxChunks = 64

// Found are the events that fit a Query.
type Found struct {
	Rows     []Event
	Searched int64 // the last tick that was looked at
	Next     *int64
}

// A Player is somebody who took part.
type Player struct {
	ID       ID     `json:"id"`
	Name     string `json:"name"`
	Clan     string `json:"clan"`
	First    int64  `json:"first"`
	Last     int64  `json:"last"`
	Finishes int    `json:"finishes"`
}

// An ID names an entity of a recording. One of digits alone is a number in JSON.
type ID string

// MarshalJSON implements [encoding/json.Marshaler].
func (id ID) MarshalJSON() ([]byte, error) {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(id) {
		return []byte(id), nil
	}
	return json.Marshal(string(id))
}

// A MapDiff is how two maps differ, as recfs diff tells it.
type MapDiff struct {
	Layers   []LayerDiff `json:"layers"` // all, those that only the second map has at the end
	Images   []PartDiff  `json:"images"`
	Settings []LineDiff  `json:"settings"`
	Other    int         `json:"other"`  // differences of anything else
	Errors   []string    `json:"errors"` // what cannot be read, and why
}

// A LayerDiff is how two layers differ, or one that only one map has.
type LayerDiff struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	A         *int   `json:"a"` // index in the first map, nil: it is not there
	B         *int   `json:"b"`
	Width     int    `json:"width"` // in tiles, the greater one of both
	Height    int    `json:"height"`
	Differing int    `json:"differing"` // tiles
	Changed   bool   `json:"changed"`   // anything of it differs, or only one map has it
	Runs      []Run  `json:"runs"`
	More      int    `json:"more"` // runs that are left out
}

// A Run is tiles beside each other that differ: x and y of the first one, and how many.
type Run [3]int

// A PartDiff tells what happened to an image: "added", "removed" or "changed".
type PartDiff struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// A LineDiff tells what happened to a line of the settings.
type LineDiff struct {
	Line string `json:"line"`
	What string `json:"what"`
	Was  string `json:"was,omitempty"` // before it was changed
}
