// Package example is a whole format in one small room, to read before writing another one
// (docs/adding-a-format.md). The program does not have it; its tests open it by the archive like
// any other.
//
// A score log is written by a game while it runs. Numbers are little-endian. A varint is unsigned
// LEB128, a zigzag a varint for a number with a sign, a text a byte with its length and its bytes.
//
//	header: | "SCOR" | version u8: 1 | ms of a tick u16 | start i64, ms since 1970 | map text |
//	frame:  | stored u32 | size u32 | CRC-32 of what is stored u32 | stored bytes |
//
// The stored bytes of a frame are a zlib stream, which inflates to a chunk of size bytes. A frame
// of twelve zeros ends the log, and what follows belongs to nothing. A chunk decodes alone: it
// begins with all players, at most 64, and their points, and has at most 4096 records. No tick is
// in two chunks, and ticks do not go back.
//
//	chunk:  | tick varint | players u8 | player … | record … |
//	player: | name text | points zigzag |
//	record: | ticks since the record before varint | number of the player u8 | points zigzag |
//
// A recording is a directory of header.json, index.json, raw (which package views adds), chunks/N,
// lines/N.jsonl (its records as JSON), ticks/N.json (the records of a tick), states/N.json (the
// points of all players after it, also at ticks without a record), tables/changes.parquet (all
// records), tables/scores.parquet (the points at the end) and export/changes.csv.
//
// What is shown of a chunk that is damaged:
//
//	| fault      | chunks/N | lines/N      | ticks/N, changes | states/N                  |
//	|------------|----------|--------------|------------------|---------------------------|
//	| checksum   | fails    | fails        | none             | fail, up to the next tick |
//	| the stream | fails    | those before | those before     | fail, from the last on    |
//	| a record   | opens    | those before | those before     | fail, from the last on    |
//
// If there are none before, it is as for a checksum. That is of the stored bytes, so what they
// inflate to may be anything. A frame that is impossible ends the pass, and nothing after it is
// known. Problems of the header are in header.json and index.json; they take nothing away.
//
// The files of the room, which those of every format are called like:
//
//	| file           | what is in it                                                        |
//	|----------------|----------------------------------------------------------------------|
//	| decode.go      | bytes as values                                                      |
//	| pass.go        | the pass that makes the index                                        |
//	| index.go       | the index: what one pass leaves behind; it may know package views    |
//	| index_saved.go | the index on disk, and what of it is checked                         |
//	| columns.go     | the columns of tables, and how a value is a row                      |
//	| contract.go    | the other answers to formats.Format: open, readHead, summary         |
//	| tree.go        | what package views shows: the only file that knows nodes and cache   |
package example
