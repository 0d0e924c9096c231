// Package nethack reads the save logs (.nhgame) of NetHack 4.3 and its forks FIQHack and NetHack Fourk:
// one text file per game, with a line for every command and every state of the game after it.
//
//	NHGAME save 00000001 4.003.000                     status, recovery count, version: 30 bytes
//	                 Exp:1, 138 turns, on Dungeons:1   78 bytes, rewritten now and then
//	660be99a67bac 0 0 QWduZXM= Val hum fem neu         start time, mode, player
//	*00000099 $38905$eNrtXQdg…                         backup: a whole save
//	chat                                               command
//	+1d                                                time step, added to the clock
//	D4                                                 answer to a prompt
//	+8
//	~AUPMDAJQ…                                         diff against the save before
//
// Saves and diffs are blobs: base64, in front of it perhaps $n$ (zlib) or #n# (LZ4) and the length. A
// diff is a program that copies from the save before it and inserts bytes, in one of three encodings.
//
// The pieces, from the bytes up: scanner.go finds lines, blob.go decodes blobs, diff.go and beta3.go
// decode diffs into a patch, patch.go applies one, save.go keeps a save while patches are applied,
// event.go parses all other lines. outline.go is a first look at a log, index.go the pass that rebuilds
// every save once, index_file.go keeps its result. state.go reads fields and the map out of a save.
//
// # Saves are patched in place
//
// A chain has up to thousands of diffs that each change a few hundred bytes of up to a megabyte, so a
// patch moves only what changes its place and writes only what is new. The bytes of a save are copied
// when it is handed out, and its checksum is computed in the index pass and then only for saves that
// are handed out.
//
// # Where the format is silent
//
//   - The location in front of a backup's blob is not needed and may be anything: the save counts.
//   - Base64 must be strict. The game reads other characters as zero bits; no log needs that.
//   - A blob, and so a save, has at most 64 MiB, a line what a blob of that size takes.
//   - Lines between two saves are shown up to 1 MiB: the tick behind more, or the action under way, is not
//     shown, which is the problem too_long. A log has at most 2,097,152 save lines, and index.json lists at
//     most 100,000 problems.
//   - A time step longer than 16 digits is an unknown line and does not move the clock.
package nethack
