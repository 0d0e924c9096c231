// Package demo writes demos, the recordings that the DDNet client plays (docs/formats/demo.md).
//
// A demo is what a client would have received: a header, and for every tick a marker, the world as
// a snapshot or as the difference from the one before, and messages:
//
//	header  TWDEMO 00, version, map, length, markers of the timeline, SHA-256 of the map
//	chunk*  1 1 0 00000, tick   key frame: a snapshot follows
//	        1 0 1 00001         the next tick
//	        0 tt sssss, body    tt: 1 snapshot, 2 message, 3 delta; sssss: size of the body
//
// A body is a list of ints of one to five bytes each, all of them through one fixed Huffman code.
//
// [Header] makes the header, [Writer] the chunks, [Snapshot] what the writer needs of a tick. What
// is known of a client becomes an [Info] and a [Tee]; [Look6] and [Look7] say what it looks like.
package demo
