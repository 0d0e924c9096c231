package demo

import (
	"encoding/binary"
	"strings"
)

// Ids of messages (docs/formats/demo.md section 6); those with a UUID have 0.
const (
	svChat     = 3
	svEmoticon = 10
)

var (
	svTeamsState = [16]byte{0xa0, 0x91, 0x96, 0x1a, 0x95, 0xe8, 0x37, 0x44, 0xbb, 0x60, 0x5e, 0xac, 0x9b, 0xd5, 0x63, 0xc6}
	svRaceFinish = [16]byte{0xc9, 0x15, 0xba, 0x68, 0x0a, 0x49, 0x33, 0x24, 0x91, 0x5a, 0x7a, 0x62, 0x20, 0xce, 0xcf, 0x33}
)

// Emoticons is how many emoticons there are, numbered from 0 on.
const Emoticons = 16

// MaxTeam is the greatest number of a DDRace team.
const MaxTeam = 128

// maxText is how many bytes a line in the chat has.
const maxText = 255

// Chat writes a line that the server says in the chat.
func (w *Writer) Chat(text string) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	w.begin(svChat)
	w.fields(0, -1)
	w.payload = append(append(w.payload, Cut(text, maxText)...), 0)
	w.message()
}

// Emoticon writes that a client shows an emoticon.
func (w *Writer) Emoticon(id, emoticon int32) {
	w.begin(svEmoticon)
	w.fields(id, emoticon)
	w.message()
}

// Teams writes the DDRace teams of all client ids, each up to MaxTeam.
func (w *Writer) Teams(teams *[MaxClients]int32) {
	w.beginExtended(svTeamsState)
	for _, team := range teams {
		w.fields(team)
	}
	w.message()
}

// Finish writes that a client finished, in a time in milliseconds.
func (w *Writer) Finish(id, ms int32) {
	w.beginExtended(svRaceFinish)
	w.fields(id, ms, 0, 0, 0)
	w.message()
}

func (w *Writer) begin(id int32) { w.payload = AppendInt(w.payload[:0], 2*id) }

func (w *Writer) beginExtended(id [16]byte) {
	w.begin(0)
	w.payload = append(w.payload, id[:]...)
}

func (w *Writer) fields(values ...int32) {
	for _, v := range values {
		w.payload = AppendInt(w.payload, v)
	}
}

// message writes the payload, read as ints of four bytes, as the body of a chunk.
func (w *Writer) message() {
	for len(w.payload)%4 != 0 {
		w.payload = append(w.payload, 0)
	}
	w.plain = w.plain[:0]
	for p := w.payload; len(p) > 0; p = p[4:] {
		w.plain = AppendInt(w.plain, int32(binary.LittleEndian.Uint32(p)))
	}
	w.chunk(messageChunk)
}
