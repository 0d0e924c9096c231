package echo

import (
	"encoding/json"

	"recfs/formats"
)

// headerFields are what header.json shows of a header. Those that only one of the formats has are
// left out by the other.
type headerFields struct {
	Entry       string         `json:"entry,omitzero"`
	EntryHex    string         `json:"entry_hex,omitzero"`
	Version     uint8          `json:"version,omitzero"`
	Interval    int            `json:"keyframe_interval,omitzero"`
	Code        *uint8         `json:"compression_code,omitzero"`
	Compression string         `json:"compression"`
	ChunkFrames int            `json:"chunk_frames,omitzero"`
	Client      *string        `json:"client_name"`
	ClientHex   string         `json:"client_name_hex,omitzero"`
	SessionID   *string        `json:"session_id"`
	IDHex       string         `json:"session_id_hex,omitzero"`
	SessionIP   *string        `json:"session_ip"`
	IPHex       string         `json:"session_ip_hex,omitzero"`
	Players     []headerPlayer `json:"players,omitzero"`
	TotalRounds *int64         `json:"total_round_count"`
	Blue        *int64         `json:"blue_round_score"`
	Orange      *int64         `json:"orange_round_score"`
	MapIndex    *uint8         `json:"map_index,omitzero"`
	MapName     *string        `json:"map_name"`
	MapHex      string         `json:"map_name_hex,omitzero"`
	Private     *bool          `json:"private_match"`
	MatchType   *string        `json:"match_type"`
	TypeHex     string         `json:"match_type_hex,omitzero"`
	ChunkCount  *int           `json:"chunk_count,omitzero"`
	DataOffset  int64          `json:"data_offset,omitzero"`
}

// A headerPlayer is a player in a header.
type headerPlayer struct {
	Name    string          `json:"name"`
	NameHex string          `json:"name_hex,omitzero"`
	UserID  json.RawMessage `json:"user_id"`
	Number  uint8           `json:"number"`
	Level   uint8           `json:"level"`
}

// header returns what header.json shows of the match.
func (m *Match) header() *headerFields {
	d := &headerFields{TotalRounds: m.TotalRounds, Blue: m.BlueRounds, Orange: m.OrangeRounds, Private: m.Private}
	d.Client, d.ClientHex = displayed(m.ClientName)
	d.SessionID, d.IDHex = displayed(m.SessionID)
	d.SessionIP, d.IPHex = displayed(m.SessionIP)
	d.MapName, d.MapHex = displayed(m.MapName)
	d.MatchType, d.TypeHex = displayed(m.MatchType)
	return d
}

// summary returns a summary with what the match and the index, unless it is nil, tell of a
// recording.
func (m *Match) summary(format string, x formats.Index) (s formats.Summary) {
	d := m.header()
	s.Map = d.MapName
	for _, of := range []struct {
		key  string
		text *string
	}{{"match_type", d.MatchType}, {"client_name", d.Client}} {
		if of.text != nil {
			s.Details.Add(of.key, *of.text)
		}
	}
	if x != nil {
		x.(*Index).Summarize(format, &s)
	}
	return s
}
