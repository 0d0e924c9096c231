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
// There are two layouts. The published one (versions 3 and 4) has absolute
// ticks, a record for every tick, and snapshots made of the first tick's
// leading events. The design layout (version 1) has ticks relative to the
// chunk, leaves empty ones out, and puts a snapshot into a section of its own
// in front of the records:
//
//	| varint length | varint id, payload | … | records
//
// Payloads have no length, so events can be told apart only with a [Schema]
// that describes them. The schemas of one host are built in.
//
// Where the format says nothing:
//
//   - A sidecar schema counts whatever its match says, as somebody put it
//     there; one that does not parse is passed over.
//   - Where chunks overlap, the world is played from the chunk that starts
//     first as far as it reaches, then from the next one.
//   - A preamble of nothing but zeroes, as a crash can leave it, counts as an
//     empty one.
//   - A failing entry of a snapshot section is a chunk.event at its offset
//     and the last line of lines/ and snapshots/, though the ticks are whole.
//   - An entity, or a slot of an item, whose number is beyond an int64 (a u64
//     can be) shows in its events, but states and tracks do not follow it.
//   - Of an index of more than 64 MiB (some five million chunks) the chunks in
//     front are shown, and an index.count says so.
//   - The tick in which decoding stopped gives no row in tracks/ and ghost.csv.
//   - A frame found by salvage that does not decompress is listed without
//     size.
package hcrp
