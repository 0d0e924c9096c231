// Package butter reads .butter files: recordings of Echo VR sessions, compressed by storing differences as half-precision
// numbers. Every frame is given back as the JSON of the game's own API.
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
// Three layouts of frames share the version byte 3; [NewReader] tries them on the first chunks.
//
// A part that a frame leaves out has the same bytes as in the frame before. Where they are a difference, the same
// difference is added again. Key frames reset everything but bones and pause timers, so a chunk decodes by itself given
// those two at its start: the carry, which the index keeps for every chunk.
//
// # Decisions
//
// Where the description of the format leaves something open:
//
//   - A key frame that is not the first of its chunk, or a chunk that begins with none, is damage: a chunk of interval
//     frames with one key frame is the only thing that was ever written, and garbage is found sooner so.
//   - At most eight chunks are tried for the layout. Of the layouts that pass for a chunk the first is taken under which
//     everything in the key frame is within a kilometre. A wrong layout can fall into step: in private matches the name
//     in the rules block, which ends at its 0 byte, always makes up for the byte that v3early lacks.
//   - A chunk that does not decode under the map of the file is tried as one of the other kinds of map, and shown so
//     if it then decodes in every respect: some recorders went on in the same file when the map changed.
//   - A pause block never seen reads as unpaused, no team; a rotation never seen as the identity.
//   - A clock that is negative or not finite has the display 00:00.00.
//   - The frames of one chunk may take 512 MiB of memory, of which players and bones are nearly all. The frame that
//     goes beyond is reported as one that does not decode.
package butter
