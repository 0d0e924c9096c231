// Package echoreplay reads .echoreplay files: recordings of Echo VR sessions as text, a line per
// frame.
//
//	file   the text, or a zip archive whose first entry is the text
//	line   timestamp TAB session [TAB bones] LF or CR LF
//
// The timestamp is yyyy/MM/dd HH:mm:ss.fff with separators that depend on the recorder's locale;
// session and bones are the JSON documents /session and /player_bones of the game's API.
//
// The tree is that of package butter, so that the two can be compared file by file.
//
// # Decisions
//
//   - A chunk is 300 frames, as butter files have by default; fewer if 300 take more than 64 MiB of text. It is the text
//     from the end of the chunk before to the end of its last frame's line.
//   - A chunk of more than 8 MiB of text is decoded in parts, so that one frame of it takes no more.
//   - Members of objects are shown in the order of docs/tree/butter.md section 4, which is that of
//     the game, and unknown members after them, in their own order. Values stay as they are written,
//     to the digit.
//   - Offsets in index.json count bytes of the text, also where it lies compressed in a zip archive.
//   - Blank lines, lines without a tab and documents of fewer than 800 bytes are no frames and no problem. Any other
//     line that is no frame is one, line_damaged, reported once for a chunk. Where nothing is a frame for 64 MiB the chunk goes on to the next one. Lines end after 10 MiB at the latest.
//   - A zip archive without a central directory is read from its first local header on, as far as it goes.
//   - Reading inside a compressed entry starts at its beginning or where the last reader stopped, whichever is nearer:
//     going through the recording inflates it once.
//   - metadata is empty: nothing of the kind is stored.
package echoreplay
