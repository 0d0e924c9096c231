// Package hcrp reads chunked tick recordings of Minecraft servers ("HCRP").
//
// A recording is a header, NBT metadata, an index, and chunks of zstd data:
//
//	0          256        +metadata   +index
//	| header   | metadata | index     | chunk | chunk | …      one file
//	| header   | metadata | index     |  preamble.dat          in segments
//	                                  | chunk | chunk | …      segment-000.dat, …
//
// An entry of the index is
//
//	| varint start tick | varint ticks | flags | i64 offset | varint stored | varint size |
//
// with offsets in the file, or segment << 32 | offset in that segment. Flag
// bit 0 says that the chunk begins with a snapshot. The body of a chunk is a
// row of records,
//
//	| varint tick | u16 events | varint id, payload | varint id, payload | …
//
// There are two layouts. The published one (versions 3 and 4) has absolute ticks, a record for
// every tick, and snapshots made of the first tick's leading events. The design layout (version 1)
// has ticks relative to the chunk, leaves empty ones out, and puts a snapshot into a section of its
// own before the records:
//
//	| varint length | varint id, payload | … | records
//
// # Header
//
// 256 bytes, filled up with zeroes. Numbers are big-endian; n is the length of the world version in
// the published layout, 0 to 32. In which layout a file is, byte 4 tells: 0 means published.
//
//	published   size  design  size  field
//	0           4     0       4     magic, "HCRP"
//	4           2     4       1     version
//	6           2     5       2     flags
//	8           16    7       16    world id, a UUID
//	24          1     –             n
//	25          n     23      16    world version, opaque
//	25+n        8     39      8     timestamp, Unix milliseconds of the beginning
//	33+n        2     47      2     dictionary id, 0: none
//	35+n        4     49      4     metadata length, from 256 on
//	39+n        4     53      4     index length, after the metadata
//	43+n        4     57      4     tick count
//	47+n        4     61      4     chunk count
//	51+n        4     –             data version of the game
//
// # Values
//
//	varint      1–5   7 bits a byte, lowest first, top bit: more follows; two's complement
//	varlong     1–10  the same with 64 bits
//	zigzag      1–10  a varlong u that means (u >> 1) ^ -(u & 1)
//	string      n     varint length, UTF-8
//	uuid        16    high half first
//	nbt         n     tag type, payload; the root has no name
//	block_pos   8     i64: x in bits 38–63, z in 12–37, y in 0–11, each with its sign
//	pos         32    x y z f64, yaw pitch f32
//	lp_pos      7–34  x y z zigzag in 1/4096 block, yaw pitch i16 in 1/65536 turn
//	lp_vec3     1–11  0: the zero vector; else 48 bits, below, and perhaps a varint
//
//	lp_vec3  bytes b0 b1, u32 w; packed = w << 16 | b1 << 8 | b0
//	         bits 0–1 scale, low bits; 2: a varint follows with its high bits; 3–17 x; 18–32 y; 33–47 z
//	         component = (min(q, 32766) × 2 / 32766 − 1) × scale
//
// # Events
//
// Ids 0 to 9 are those of the published layout, 10 to 14 those of its only known host. In version 3
// the delta of id 0 is a pos.
//
//	0   delta_move          varint entity, lp_pos delta, lp_vec3 velocity
//	1   absolute_move       varint entity, pos, lp_vec3 velocity
//	2   entity_state        varint entity, varint pose, u8 flags
//	3   hand_animation      varint entity, varint hand
//	4   item_use            varint entity, bool, varint hand if the bool is 1
//	5   set_item            varint entity, varint n, n × (varint slot, nbt item)
//	6   change_held_slot    varint entity, varint slot
//	7   set_block           block_pos, varint state
//	8   spawn_entity        varint entity, varint type, pos
//	9   destroy_entity      varint entity
//	10  run_start
//	11  checkpoint_reached  string checkpoint, varlong run time in ms
//	12  checkpoint_reset    varint reason, varlong run time
//	13  run_end             varint reason, varlong run time
//	14  clear_ghost_blocks
//
// Payloads have no length, so events can be told apart only with a [Schema] that describes them.
// The schemas of this host are built in; docs/formats/hcrp.md section 9 has the form of the others.
//
// # Files
//
// Each refers only to those before it, and to those of its line.
//
//	entry problem header           index entries, codes, the header
//	geometry schema _parse _builtin
//	                               what events consist of, and which of their values change the world
//	options                        schemas, dictionaries, limits
//	event nbt chunk columns        what a body is decoded to, and rows of tables
//	decode_value _event decode     values, the event they are of, then records
//	frame preamble segments reader _events
//	                               a recording: where stored bytes lie, how they expand, its chunks
//	dictionary schema_choose       the schema of a recording, and what expands it
//	salvage                        frames without index entries
//	world replay index             the world after each tick; what decoding every chunk once has taught
//	reader_check _open index_saved what is wrong with either, and how it is saved
//	verdict                        how it ends, and what is wrong with it in all
//	state_walk rows                states and CSV rows out of an index
//	pass                           how an index is made, or goes on with a saved one
//	contract                       head, index and summary, as all formats have them
//	compact                        one file of many segments
//	tree_*                         the directories; tree.go is their root
//
// # Decisions
//
// Where the format says nothing:
//
//   - A sidecar schema counts whatever its match says, as somebody put it
//     there.
//   - Chunks that overlap and are large may take turns so often that to play
//     them takes too long: what follows is unknown, and an index.ticks says so.
//   - A preamble of nothing but zeroes, as a crash can leave it, counts as an
//     empty one.
//   - A failing entry of a snapshot section is a chunk.event at its offset
//     and the last line of lines/, though the ticks are whole.
//   - An entity, or a slot of an item, whose number is beyond an int64 (a u64
//     can be) shows in its events, but states and tracks do not follow it.
//   - Of an index of more than 64 MiB (some five million chunks) the first
//     64 MiB are shown, and an index.count says so.
//   - The tick in which decoding stopped gives no row in tracks/ and ghost.csv.
//   - Metadata, and the events of one chunk, give 256 MiB of compact JSON at
//     most, as they are made at once: what is more is a metadata.nbt or a
//     chunk.event. Files of the whole recording are made in pieces, and have no
//     limit.
//   - A frame found by salvage that does not decompress is listed without
//     size.
package hcrp
