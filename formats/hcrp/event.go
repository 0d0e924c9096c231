package hcrp

// A span is a piece of a chunk's text, or of its body. The zero span is none.
type span struct{ start, end uint32 }

func newSpan(start, end int) span { return span{uint32(start), uint32(end)} }

type (
	item struct {
		slot int64
		text span
	}
	block struct {
		at    blockAt
		state span
	}
)

// An event is one decoded event, or entry of a snapshot section: its text, and the values that
// change the world (docs/tree/hcrp.md section 7).
type event struct {
	def  *eventDef // nil: unknown id, or a payload that does not fit
	text span      // the whole object

	id        int32
	column    int32 // what the table of events has as entity
	hasColumn bool
	fields    uint32 // where they begin in text
	aside     span   // of them, what is not in data

	has    uint16 // bits 1<<capture…, of the values that were decoded
	entity int64
	pos    position
	at     blockAt
	raw    [rawCount]span
	items  []item
	blocks []block
}

func (e *event) hasAll(list ...capture) bool {
	for _, c := range list {
		if e.has&(1<<c) == 0 {
			return false
		}
	}
	return true
}
