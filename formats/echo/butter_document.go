package echo

import (
	"encoding/json"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

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
