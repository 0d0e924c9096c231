// Package fs serves a tree of nodes as a FUSE filesystem on Linux (see [Mount]).
//
// # Node ids
//
// The FUSE adapter keeps no state per file. A node id, the 64-bit number by
// which the kernel names a file, says which one it is:
//
//	 63            40 39                 0
//	┌────────────────┬────────────────────┐
//	│ number         │ index + 1          │   entry of an immutable directory
//	├────────────────┼────────────────────┤
//	│ number         │ 0                  │   the numbered node itself
//	└────────────────┴────────────────────┘
//
// Numbered are the directories that the kernel holds, and the entries of
// volatile directories that it holds (see [nodes.Volatile]). Their table is
// the only state: LOOKUP adds to it and FORGET takes away. For a file in an
// immutable directory both cost nothing, so memory does not grow with the
// number of files that were ever looked at.
//
// A number stands for one version of what it names. When a look-up in a volatile directory finds a
// new version, that gets a number of its own, and programs that have the old one open keep reading
// it. A number that the kernel forgot may be given out again, with another generation.
//
// An entry that grows ([nodes.Entry]) is numbered, too, and is the one thing that changes: when its
// attributes are asked for, which hold for a second, its node gets the file of the same path in the
// newest version of the recording, if that grew out of the one that the node is of and the file
// begins with the bytes it had. Before it hears of the new size, the kernel is told to drop the
// pages of the file.
//
// st_ino is a hash of the path, so it is the same at every mount and for every
// version of a recording. Only where another file took the place of one that was
// held it is another number from then on, by which programs that follow a name
// find out.
//
// # Reading without opening
//
// OPEN and FLUSH are answered with ENOSYS: the kernel then sends no more of them, and no
// RELEASE, and keeps pages from one open to the next. That rests on exact
// sizes and on immutable files, for every file of the mount. A file whose
// content changes is therefore an entry of a volatile directory: each look-up
// that finds other content makes a version with its own exact size. There is
// no direct I/O.
//
// The kernel never reads a file of size 0, but asks for attributes that it
// does not hold any more before it answers a read of one, and says that it
// asks with a file open. The attributes of an empty file therefore hold for no
// time, and that question opens the file: one that should be empty and is
// damaged fails in read, as any other, and not in stat.
package fs
