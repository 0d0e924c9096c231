// Package datafile reads Teeworlds and DDNet datafiles, which hold maps, and
// shows them as trees.
//
// # Container
//
//	0    4          8     12       16        20     24    28         32         36
//	+----+----------+-----+--------+---------+------+-----+----------+----------+
//	|DATA| version  |size | swaplen| num_    | num_ | num_| item_size| data_size|
//	|ATAD| 3 or 4   |     |        | item_   | items| data|          |          |
//	|    |          |     |        | types   |      |     |          |          |
//	+----+----------+-----+--------+---------+------+-----+----------+----------+
//	| item types    num_item_types × (type_id, start, num)                      |
//	| item offsets  num_items × int, relative to the items                      |
//	| data offsets  num_data × int, relative to the data                        |
//	| data sizes    num_data × int, length of the content (version 4 only)      |
//	+---------------------------------------------------------------------------+
//	| items         id (u16), type (u16), length (int), then that many bytes    |
//	+---------------------------------------------------------------------------+
//	| data          version 4: one zlib stream each; version 3: as it is        |
//	+---------------------------------------------------------------------------+
//
// An int is a signed 32-bit little-endian integer. Both magics are followed by
// little-endian integers: a big-endian writer swaps the header as ints, the
// magic with it, and so gets the same bytes behind it.
//
// # Decisions
//
//   - The layout comes from the counts alone. size and swaplen are only judged:
//     old writers forgot the data size table in both.
//   - Everything in front of the data part is read at once and held, at most
//     16 MiB; the largest known is below one. Longer is refused, not guessed.
//   - The announced size of a data item bounds what is inflated and is never
//     allocated before the bytes arrive. It must be met exactly.
//   - A run-length layer is bounded like a data item when it is expanded.
//   - Names may have 4 KiB, info strings 1 MiB and settings 16 MiB; the JSON or
//     picture of a layer 256 MiB. A few stored bytes can make much more of one
//     data item, and many items may refer to it.
//   - References mean the position within a type, not the id.
//   - Of the data references of a tile layer only the one that its flags ask
//     for is looked at; the others hold garbage in real maps.
//   - collision.png and preview.png are stored without compression. So their
//     size follows from the game layer's dimensions, and listing them draws
//     nothing. Embedded images are compressed; their sizes are learnt by
//     encoding them and remembered.
package datafile
