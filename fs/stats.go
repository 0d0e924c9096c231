package fs

import "sync/atomic"

// Stats says what a mount has done so far.
type Stats struct {
	Requests map[string]uint64 // by operation, under the kernel's names
	Bytes    uint64            // returned by READ
	Errors   uint64            // requests answered with an error other than ENOENT and ENOTDIR
	Nodes    int               // directories and versions that the kernel holds
	Contents int               // open files held for further READs
}

type operation int

const (
	opLookup operation = iota
	opForget
	opGetattr
	opReadlink
	opOpen
	opRead
	opFlush
	opOpendir
	opReaddir
	opReaddirplus
	opReleasedir
	opStatfs
	numOperations
)

var operationNames = [numOperations]string{
	"LOOKUP", "FORGET", "GETATTR", "READLINK", "OPEN", "READ", "FLUSH",
	"OPENDIR", "READDIR", "READDIRPLUS", "RELEASEDIR", "STATFS",
}

func (o operation) String() string { return operationNames[o] }

type counters struct {
	requests [numOperations]atomic.Uint64
	bytes    atomic.Uint64
	errors   atomic.Uint64
}

func (c *counters) snapshot() Stats {
	s := Stats{
		Requests: make(map[string]uint64, numOperations),
		Bytes:    c.bytes.Load(),
		Errors:   c.errors.Load(),
	}
	for op := range numOperations {
		s.Requests[op.String()] = c.requests[op].Load()
	}
	return s
}
