package echo

import "recfs/formats"

// headerDocument returns the value of header.json. What is about the match is that of the first
// frame.
func (r *replayHead) headerDocument(source formats.SourceInfo) any {
	type header struct {
		Entry       string  `json:"entry,omitempty"`
		Compression string  `json:"compression"`
		ChunkFrames int     `json:"chunk_frames"`
		Client      *string `json:"client_name"`
		SessionID   *string `json:"session_id"`
		SessionIP   *string `json:"session_ip"`
		TotalRounds *int64  `json:"total_round_count"`
		Blue        *int64  `json:"blue_round_score"`
		Orange      *int64  `json:"orange_round_score"`
		MapName     *string `json:"map_name"`
		Private     *bool   `json:"private_match"`
		MatchType   *string `json:"match_type"`
	}
	m := r.Match()
	compression := "stored"
	if r.method != 0 {
		compression = "deflate"
	}
	return formats.HeaderDocument[header]{
		HeaderHead: formats.HeaderHead{Format: replayName, FormatVersion: formatVersion, Layout: r.layout},
		Source:     source,
		Header: header{
			r.entry, compression, chunkFrames, m.ClientName, m.SessionID, m.SessionIP, m.TotalRounds, m.BlueRounds,
			m.OrangeRounds, m.MapName, m.Private, m.MatchType,
		},
		Problems: r.problems(),
	}
}

// formatVersion is that of all files: none is stored.
const formatVersion = "1"

// problems returns what opening the file shows.
func (r *replayHead) problems() []formats.Problem {
	list := []formats.Problem{}
	if r.cut {
		list = append(list, formats.Problem{Code: "truncated", Offset: 0, Message: "the zip archive has no directory"})
	}
	return list
}
