// Package example is a whole format in one small room, to read before writing another one (docs/adding-a-format.md).
// The program does not have it; its tests open it by the archive like any other.
//
// A score log is text. Its first line is the header, and each line after it says that a player has a new score:
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
// Fields are parted by one blank and hold none. Ticks do not go back. A line ends with a line feed and has at most
// 1,024 bytes; one without its line feed at the end of the file is still being written.
//
// A recording is a directory of header.json, index.json, raw, lines/N.jsonl (a file for each 1,024 scores),
// ticks/N.json (the scores of all players at a tick at which one of them changed) and tables/scores.parquet.
package example
