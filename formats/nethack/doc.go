// Package nethack reads the save logs (.nhgame) of NetHack 4.3 and its forks FIQHack and NetHack
// Fourk: one text file per game, with a line for every command and every state of the game after
// it.
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
// Saves and diffs are blobs: base64, or $n$ and the base64 of a zlib stream of n bytes, or #n# and
// that of an LZ4 block. docs/formats/nethack.md section 2 has all lines.
//
// # Diffs
//
// A diff is a program that appends to an output, reading from a base, the save before it. copy n
// appends n bytes of the base, edit n appends n bytes of the diff; both move the position in the
// base on by n. seek n moves it back by n. The first two bytes tell the encoding:
//
//	beta1, no header: 16 bits little-endian
//	  00 n14   seek, signed
//	  10 n14   edit
//	  11 n14   copy
//
//	beta2, after 01 40: 2 or 4 bytes big-endian
//	  0 e2 n13     copy n, edit e + 1
//	  100 e4 n25   copy n, edit e
//	  101 n29      edit
//	  110 n29      seek, signed
//	  111 n13      seek, signed
//
//	beta3, after 01 43: command, arg2, then arg1 to the end of a byte
//	  nr  command    arg2  arg1
//	  0   copyedit   2     12    copy arg1, edit arg2 + 1
//	  1   copy             6     copy
//	  2   edit             4     edit arg1 + 1
//	  3   seek             8     seek, signed
//	  4   wider                  8 bits more for arg1 of the next command
//	  5   eof              12    copy arg1, end
//	  6   coord      3     1     moves a monster one step (docs/formats/nethack.md section 6.4)
//	  7   erase      3     7     copy arg1, append arg2 + 3 zero bytes
//	  8   increment        12    copy arg1, append the next byte of the base plus 1
//	  9   copyedit1        4     copy arg1, edit 1
//	  10  eof_crc32  32    12    copy arg1, end; arg2 is the CRC-32 of the output
//
// A command of beta3 is k one-bits, a zero, and k + 1 bits r: entry 2^(k+1) - 2 + r of a list that
// begins in the order above; the entry then moves to the front. The widths are in bits; arg1 has at
// least its own.
//
// # Saves
//
// Integers are little-endian. Only these places are the same in all versions; those of the hero,
// the dungeons, the map, the levels and the pack are in docs/formats/nethack.md sections 7.2 to 7.5
// and 12 to 15.
//
//	0   u32  incarnation, 04030000 for 4.3
//	8   u32  fingerprint of the game's data, 211b017d for 4.3
//	12  i32  turn
//	16  i64  clock in microseconds
//	32  i32  timezone in seconds
//
// # Files
//
// From the bytes up: layout.go reads the header, scanner.go finds lines and decodes their blobs,
// diff.go decodes diffs into a patch, patch.go applies one, and save.go keeps a save while patches
// are applied. event.go parses a line that is no save, tick.go has those of a tick.
//
// outline.go is a first look at a log and pass.go the pass that rebuilds every save once. index.go
// has its result and what it tells of the log: tick.go and packed.go hold the ticks and
// save_names.go their names in little memory, index_saved.go keeps it on disk, and contract.go is
// what the program is given of all this. replay.go rebuilds a save again, and state_cost.go says
// what a state of it takes.
//
// state.go reads fields and the map out of a save, hero.go the hero, level_walk.go, level.go,
// monster.go and object.go what is around the hero; names.go has its names, screen.go draws it, and
// state_json.go is its document. hero.go and cast.go write the exports. columns.go and rows.go have
// the rows of tables.
//
// # Saves are patched in place
//
// A chain has up to thousands of diffs that each change a few hundred bytes of up to a megabyte, so
// a patch moves only what changes its place and writes only what is new. The bytes of a save are
// copied when it is handed out, and its checksum is computed in the index pass and then only for
// saves that are handed out.
//
// # Where the format is silent
//
//   - The location before a backup's blob is not needed and may be anything: the save counts.
//   - Base64 must be strict. The game reads other characters as zero bits; no log needs that.
//   - A blob, and so a save, has at most 16 MiB, a line what a blob of that size takes.
//   - Lines between two saves are shown up to 1 MiB: the tick behind more, or the action under way,
//     is not shown, which is the problem too_long. What is wrong with a longer line is no further
//     problem. A log has at most 2,097,152 save lines, and index.json lists at most 100,000
//     problems.
//   - The pack and what is on the hero's level are shown up to 4 MiB of a save; of more, neither
//     is.
//   - The lines after the last save are saved with an index up to 1 MiB; with more, an index is
//     made anew.
//   - A time step longer than 16 digits is an unknown line and does not move the clock.
package nethack
