// Package echo reads recordings of Echo VR in both of their formats: butter_*.go decode .butter,
// and replay_*.go decode .echoreplay. The other files serve both: the frame, its JSON in the shape
// of the game's own API, and what is made of a whole recording (events, scores, tables, the
// .echoreplay archive).
//
// # .butter
//
// A .butter file stores a session as differences between frames, in numbers of half precision. Each
// frame is shown as the JSON of the game's own API.
//
// All integers are little endian; strings are ASCII and end with a 0 byte.
//
//	file    version u8 | interval u16 | compression u8 | client name | session id 16 | session ip 4
//	        P u8 | P names | P user ids i64 | P numbers u8 | P levels u8
//	        rounds u8 | scores u8 (low nibble blue) | map u8 (bit 0 private) | C u32 | C sizes u32 | C chunks
//	chunk   frames back to back, compressed as one; interval of them, the first of which is a key frame
//	frame   marker u16 | time i64 or u16 | clock f32 | mask u8 | blocks | team mask u8 | 3 teams | bones
//	team    [stats 14] | n u8 | n players
//	player  reference u8 | slot u8 | state mask u8 | [stats] [ping, loss 4] [holding 2] [velocity 6]
//	        pose mask u8 | positions 6 and rotations 4 | [loadout u8]
//	bones   bit 0 present, rest N | N times: position mask 3 | rotation mask 3 | varints | rotations 4
//
// Three layouts of frames share the version byte 3; [newButterReader] tries them on the first
// chunks. The blocks of a frame, by the bit of its mask in the layouts of version 3, with their
// bytes:
//
//	0  status, points, inputs  1 + 2 in the arena, 4 in combat, else 0 + 1
//	1  pause and restarts      6 (v3) or 5 (v3early): bits, state, 2 halfs that are differences
//	2  last score              7: team, points and goal type; scorer, assist; speed, distance
//	3  last throw              26: 13 halfs
//	4  VR player               10: position, a difference, and rotation
//	5  disc                    16: position, a difference, rotation, velocity, a difference
//	6  payload                 7: contested, checkpoint, defenders, distance, speed
//	7  rules changed           8 + name + 0 byte
//
// docs/formats/butter.md sections 5 to 8 have the other layouts, and the bits of players and bones.
//
// Values:
//
//	half      binary16
//	vector    3 halfs x y z
//	rotation  u32: bits 0–1 which component is the largest, and left out; then the others, in the order
//	          x y z w, in 10 bits each: n / 1023 × √2 − √2 / 2
//	varint    of the positions of bones, zigzag: first byte up to 240 the value; up to 248
//	          240 + 256 × (first − 241) + next; 249 2288 + two bytes, high one first; else the next
//	          first − 247 bytes, low one first. It counts 1/4096 m
//
// Differences:
//
// A part that a frame leaves out has the same bytes as in the frame before. Where they are a
// difference, the same difference is added again. Key frames reset everything but bones and pause
// timers, so a chunk decodes by itself given those two at its start: the carry, which the index
// keeps for every chunk. Where chunks have few frames it keeps the bones of some only, and those
// between are decoded from there on (boneShare).
//
// Decisions:
//
// Where the description of the format leaves something open:
//
//   - A chunk must begin with a key frame and have no other. No recorder ever wrote anything else,
//     and garbage is noticed sooner this way.
//   - At most eight chunks are tried to find the layout. If several layouts pass for a chunk, the
//     first one counts that puts everything in the key frame within a kilometre. A wrong layout can
//     get back into step: in private matches the name in the rules block, which ends with a 0 byte,
//     always makes up for the byte that v3early lacks.
//   - If a chunk does not decode as the kind of map that the header names, the other kinds are
//     tried, and the first that fits in every respect counts. Some recorders kept writing to the
//     same file when the map changed.
//   - Without a pause block the game is unpaused and no team asked for a pause. Without a rotation
//     it is the identity.
//   - A clock that is negative or not finite has the display 00:00.00.
//   - The frames of one chunk may take 512 MiB of memory, nearly all of it players and bones. A
//     frame beyond that counts as one that does not decode. At most 8 MiB of frames are in memory
//     at once: a longer chunk is decoded in parts, and each part takes a walk through the whole
//     chunk.
//
// # .echoreplay
//
// An .echoreplay file stores a session as text, one line a frame.
//
//	file   the text, or a zip archive whose first entry is the text
//	line   timestamp TAB session [TAB bones] LF or CR LF
//
// The timestamp is yyyy/MM/dd HH:mm:ss.fff with separators that depend on the recorder's locale;
// session and bones are the JSON documents /session and /player_bones of the game's API.
//
// The tree is that of .butter, so that the two can be compared file by file.
//
// Decisions:
//
//   - A chunk is 300 frames, the default of butter files, or fewer if 300 take more than 64 MiB of
//     text. It reaches from the end of the chunk before to the end of the line of its last frame.
//   - A chunk of more than 8 MiB of text is decoded in parts, so that reading one frame takes no
//     more memory than that.
//   - Members of objects are shown in the order of docs/tree/butter.md section 4, which is that of
//     the game, and unknown members after them, in their own order. Values stay as they are
//     written, to the digit.
//   - Offsets in index.json count bytes of the text, also where it lies compressed in a zip
//     archive.
//   - Blank lines, lines without a tab and documents of fewer than 800 bytes are not frames, and
//     not a problem either. Any other line that is not a frame is one: line_damaged, reported once
//     a chunk. If there is no frame for 64 MiB, the chunk goes on to the next frame. A line ends
//     after 10 MiB at the latest.
//   - A zip archive without a central directory is read from its first local header to its end.
//   - Reading inside a compressed entry starts at its beginning or where the last read stopped,
//     whichever is nearer. So reading the recording from end to end inflates it once.
//   - metadata is empty: nothing of the kind is stored.
package echo
