// Package example is a whole format in one small room, to read before writing another one
// (docs/adding-a-format.md). The program does not have it; its tests open it by the archive like
// any other.
//
// A score log is text. Its first line is the header, and each line after it says that a player has
// a new score:
//
//	scores 1 2026-11-22T10:00:00Z 50 dust
//	0 alice 3
//	120 bob -1
//	end 200
//
//	| line   | fields                                                                      |
//	|--------|-----------------------------------------------------------------------------|
//	| header | "scores", version 1, start in UTC as in RFC 3339, milliseconds a tick, map  |
//	| score  | tick, player, score                                                         |
//	| end    | "end", the last tick; what follows belongs to nothing                       |
//
// Fields are parted by one blank and hold none. Ticks do not go back. A line ends with a line feed
// and has at most 1,024 bytes; one without its line feed at the end of the file is still being
// written.
//
// A recording is a directory of header.json, index.json, raw (which package views adds), chunks/N
// (the lines of each 1,024 scores), lines/N.jsonl (the same as JSON), ticks/N.json (the scores that
// came at a tick), states/N.json (the scores of all players then, also at ticks without one),
// players.json, tables/scores.parquet and export/scores.csv.
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
