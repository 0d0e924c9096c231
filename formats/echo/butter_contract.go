package echo

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/jsonenc"
)

var _ formats.Head = (*butterHead)(nil)

// open is the Open of the format.
func (o Options) open(ctx context.Context, in formats.Input) (formats.Head, error) {
	r, err := newButterReader(ctx, in, in.Size, o.MaxChunk)
	if err != nil {
		return nil, err
	}
	return r.butterHead, nil
}

// Append appends the head as it is kept on disk.
//
//	| size of the file | layout text | header and chunk table |
func (o *butterHead) Append(b []byte) []byte {
	return indexfile.Append(b, func(c indexfile.Codec) { o.code(c, &o.Layout.name, &o.Header.raw) })
}

func (o *butterHead) code(c indexfile.Codec, layout *string, header *[]byte) {
	c.Values(&o.size, layout)
	c.Blob(header)
}

// readHead reads what Append of a head wrote.
func (o Options) readHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	h, chosen, raw := &butterHead{maxChunk: o.maxChunk()}, "", []byte(nil)
	err := indexfile.Read(butterName, saved, func(c indexfile.Codec) { h.code(c, &chosen, &raw) })
	if err != nil {
		return nil, err
	}
	if h.Header, err = parseHeader(raw, h.size); err != nil {
		return nil, err
	}
	for _, l := range layoutsOf(h.Header.Version) {
		if l.name == chosen {
			h.Layout = l
			return h, nil
		}
	}
	return nil, formats.ErrOther
}

// Memory is about how much the head keeps in memory: for each chunk 4 bytes of the table as stored
// and 16 as it is used, and a user for each player.
func (o *butterHead) Memory() int64 { return int64(5*len(o.Header.raw)+1280) + o.Header.users.memory() }

func (o *butterHead) formatVersion() string { return strconv.Itoa(int(o.Header.Version)) }

// scanButter is the Scan of the format.
func scanButter(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	return (&butterReader{h.(*butterHead), in.ReaderAt}).Scan(ctx, in.Size, earlier)
}

// readButterIndex reads what Append of an index wrote.
func readButterIndex(_ formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	r := h.(*butterHead)
	return ReadIndex(butterName, false, saved, r.size, len(r.Header.Chunks), func(info *ChunkInfo) bool {
		if info.Ticks > r.Header.Interval {
			return false
		}
		_, err := decodeCarry(info.State)
		return err == nil || info.Ticks == 0
	})
}

// butterSummary is the Summary of the format.
func butterSummary(_ context.Context, rec formats.Recording, x formats.Index) (formats.Summary, error) {
	h := rec.Head.(*butterHead)
	m := h.Match()
	s := formats.Summary{Version: h.formatVersion(), Layout: h.Layout.name, Map: m.MapName, HeaderProblems: slices.Values(h.problems())}
	s.Details.Add("match_type", *m.MatchType)
	s.Details.Add("client_name", *m.ClientName)
	var names []string
	for _, p := range h.Header.Players {
		shown, _ := display(p.Name)
		names = append(names, shown)
	}
	s.AddPlayers(names)
	if x != nil {
		x.(*Index).Summarize(butterName, &s)
	}
	return s, nil
}

// headerDocument returns the value of header.json.
func (o *butterHead) headerDocument(source formats.SourceInfo) any {
	h := o.Header
	type player struct {
		Name    string          `json:"name"`
		NameHex string          `json:"name_hex,omitempty"`
		UserID  json.RawMessage `json:"user_id"`
		Number  uint8           `json:"number"`
		Level   uint8           `json:"level"`
	}
	type header struct {
		Version     uint8    `json:"version"`
		Interval    int      `json:"keyframe_interval"`
		Code        uint8    `json:"compression_code"`
		Compression string   `json:"compression"`
		Client      string   `json:"client_name"`
		ClientHex   string   `json:"client_name_hex,omitempty"`
		SessionID   string   `json:"session_id"`
		SessionIP   string   `json:"session_ip"`
		Players     []player `json:"players"`
		TotalRounds uint8    `json:"total_round_count"`
		Blue        uint8    `json:"blue_round_score"`
		Orange      uint8    `json:"orange_round_score"`
		MapIndex    uint8    `json:"map_index"`
		MapName     string   `json:"map_name"`
		Private     bool     `json:"private_match"`
		MatchType   string   `json:"match_type"`
		ChunkCount  int      `json:"chunk_count"`
		DataOffset  int64    `json:"data_offset"`
	}
	stored := header{
		Version: h.Version, Interval: h.Interval, Code: h.Compression, Compression: h.CompressionName(),
		SessionID: h.Session(), SessionIP: h.IP(), Players: make([]player, len(h.Players)),
		TotalRounds: h.TotalRounds, Blue: h.BlueScore, Orange: h.OrangeScore, MapIndex: h.MapIndex, MapName: h.MapName(),
		Private: h.Private, MatchType: h.MatchType(), ChunkCount: h.Entries, DataOffset: h.Size,
	}
	stored.Client, stored.ClientHex = display(h.ClientName)
	for i, p := range h.Players {
		v := player{UserID: jsonenc.AppendInt64(nil, p.UserID), Number: p.Number, Level: p.Level}
		v.Name, v.NameHex = display(p.Name)
		stored.Players[i] = v
	}
	return formats.HeaderDocument[header]{
		HeaderHead: formats.HeaderHead{Format: butterName, FormatVersion: o.formatVersion(), Layout: o.Layout.name},
		Source:     source, Header: stored, Problems: append([]formats.Problem{}, o.problems()...),
	}
}
