// Package datafile reads Teeworlds and DDNet datafiles, which hold maps, and shows them as trees.
// The format is described in docs/formats/datafile.md, the tree in docs/tree/datafile.md.
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
// An int is a signed 32-bit little-endian integer. Both magics are followed by little-endian
// integers: a big-endian writer swaps the header as ints, the magic with it, and so gets the same
// bytes after it.
//
// An offset of an item or data item leads to its first byte. A data item ends where the next one
// begins, the last one with the part. An index, or reference, is a position among the items of a
// type, or among the data items; -1 is none.
//
// To read a map: take the places of all parts from the counts in the header; follow the items,
// whose sizes must add up to the offsets; find the items of a type by the type table; decode their
// ints as below; and inflate the data item that an int refers to, which must give as many bytes as
// the table says.
//
// # Items of a map
//
// All fields are ints. A name is that many ints, of 4 bytes each from the highest down, each byte
// 128 too high. Fields that a later version added are there only if the item is long enough.
//
//	0      version    version
//	1      info       version author map_version credits license [settings]    data items with text
//	2      image      version width height external name data [variant]        pixels, RGBA or RGB
//	3      envelope   version channels start_point num_points name×8 [synchronized]
//	4      group      version offset_x offset_y parallax_x parallax_y start_layer num_layers
//	                  [use_clipping clip_x clip_y clip_w clip_h] [name×3]
//	5      layer      base_version kind flags, then by kind
//	         2 tiles    version width height flags color×4 color_env color_env_offset image data
//	                    [name×3] [tele speedup front switch tune]              name from version 3 on
//	         3 quads    version num_quads data image [name×3]                  38 ints a quad
//	         9, 10      version num_sources data sound name×3                  9, 13 ints a source
//	6      envpoints  points of 6 ints, or of 22 if an envelope has version 3
//	7      sound      version external name data data_size                     an Opus file
//	65535  uuid-index four ints of a UUID; the id is the type that it names in this file
//
// The structs of these items, such as [Image] and [TileFields], state the same by their tags: what
// is decoded and what the files in items/ name follows from them.
//
// Data items hold what the items refer to:
//
//	text      UTF-8 that ends in NUL; settings are many, one after the other
//	pixels    width×height, 4 bytes (RGBA) or 3 (RGB, variant 0) each, from the top left
//	tiles     width×height records, from the top left, by the flags of the layer:
//	            0, 1 game, 8 front   index flags skip 0     1 byte each
//	            2 tele, 32 tune      number type            1 byte each
//	            4 speedup            force max_speed type 0, 1 byte each, then the angle, an i16
//	            16 switch            number type flags delay
//	quads     38 ints each: 5 points x y (the last is the pivot), 4 colours r g b a, 4 texture
//	          coordinates u v, position envelope and offset, colour envelope and offset
//	sources   13 ints each: x y loop pan delay falloff, position envelope and offset, sound
//	          envelope and offset, shape (0 rectangle, 1 circle), width or radius, height
//
// In plain and game layers from version 4 on, skip more of the same follow each tile. The layers
// tele, speedup, front, switch and tune have their tiles in the reference of that name, and zeros
// in data.
//
// # Decisions
//
//   - The layout comes from the counts alone. size and swaplen are only judged: old writers forgot
//     the data size table in both.
//   - Everything before the data part is read at once and held, at most 16 MiB; the largest known
//     is below one. Longer is refused, not guessed.
//   - The announced size of a data item bounds what is inflated and is never allocated before the
//     bytes arrive. It must be met exactly.
//   - A run-length layer is bounded like a data item when it is expanded.
//   - Names may have 4 KiB, info strings 1 MiB and settings 16 MiB; the JSON or picture of a layer
//     256 MiB. A few stored bytes can make much more of one data item, and many items may refer to
//     it.
//   - References mean the position within a type, not the id.
//   - Of the data references of a tile layer only the one that its flags ask for is looked at; the
//     others hold garbage in real maps.
//   - The sizes of PNG files are learnt by making them and remembered.
package datafile
