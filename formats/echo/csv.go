package echo

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The first rows of the CSV files.
const (
	discHead    = "tick,time_ms,x,y,z,vx,vy,vz\n"
	playersHead = "tick,time_ms,team,name,userid,playerid,x,y,z,vx,vy,vz,body_x,body_y,body_z,lhand_x,lhand_y,lhand_z," +
		"rhand_x,rhand_y,rhand_z,ping,possession,blocking,stunned,invulnerable,holding_left,holding_right\n"
)

// discRow appends the row of disc.csv for frame i.
func (c *Chunk) discRow(b []byte, i int, start int64) []byte {
	f := &c.Frames[i]
	if f.Has&HasDisc == 0 {
		return b
	}
	b = c.rowStart(b, i, start)
	b = appendFields(b, f.Disc.Position, f.Lacks.Of(LacksDisc, 3))
	b = appendFields(b, f.Disc.Velocity, f.Lacks.Of(LacksDisc+3, 3))
	return append(b, '\n')
}

// playerRows appends the rows of players.csv for frame i.
func (c *Chunk) playerRows(b []byte, i int, start int64) []byte {
	f := &c.Frames[i]
	for t := range f.Teams {
		for j := range f.Teams[t].Players {
			b = c.rowStart(b, i, start)
			b = append(b, ',')
			b = append(b, TeamNames[t]...)
			b = appendPlayer(b, &f.Teams[t].Players[j])
		}
	}
	return b
}

func (c *Chunk) rowStart(b []byte, i int, start int64) []byte {
	b = strconv.AppendInt(b, c.FirstTick+int64(i), 10)
	b = append(b, ',')
	return strconv.AppendInt(b, c.Frames[i].Time-start, 10)
}

func appendPlayer(b []byte, p *Player) []byte {
	b = appendText(b, p.Name)
	b = appendWhole(b, p.Lacks.At(LacksUserID), p.UserID)
	b = appendWhole(b, p.Lacks.At(LacksID), int64(p.ID))
	for i, place := range p.places() {
		b = appendFields(b, *place, p.Lacks.Of(LacksPlaces+3*i, 3))
	}
	b = appendWhole(b, p.Lacks.At(LacksPing), int64(p.Ping))
	for i, v := range p.flags() {
		b = append(b, ',')
		if !p.Lacks.At(LacksFlags + i) {
			b = strconv.AppendBool(b, v)
		}
	}
	b = appendText(b, p.Holding[0])
	b = appendText(b, p.Holding[1])
	return append(b, '\n')
}

// appendWhole appends a comma and an integer, unless it is lacking.
func appendWhole(b []byte, lacks bool, n int64) []byte {
	if b = append(b, ','); lacks {
		return b
	}
	return strconv.AppendInt(b, n, 10)
}

// appendFields appends three fields, each behind a comma. Those that are lacking are empty.
func appendFields(b []byte, v Vec3, lacks Lacks) []byte {
	for i, x := range v {
		if b = append(b, ','); !lacks.At(i) {
			b = appendNumber(b, x)
		}
	}
	return b
}

// appendText appends a comma and a field, quoted as in RFC 4180 if necessary. Each byte that is not
// UTF-8 becomes a U+FFFD.
func appendText(b []byte, s string) []byte {
	b = append(b, ',')
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
