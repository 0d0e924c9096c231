package archive

import (
	"errors"

	"recfs/formats"
	"recfs/formats/container"
	"recfs/nodes"
)

// A memberList is a container with the list of what it holds.
type memberList struct {
	*container.Members
	src      formats.Input
	problems []formats.Problem // by offset
	broken   nodes.Dir         // what is shown instead if it does not open
	saved    bool              // it lies on disk
}

// listWork is what it takes to open a container. Its list is charged as it grows.
const listWork = 512 << 10

// savedListMin is how many members a list has that is kept: less is read faster
// than this is worth.
const savedListMin = 1000

// encode returns the list as it is kept, nil if it is not. What is kept is that of a tar which is
// whole.
func (l *memberList) encode() []byte {
	if l.saved || l.Members == nil || len(l.Problems) > 0 || l.Unended || l.Len() < savedListMin {
		return nil
	}
	return container.Encode(l.Members, l.src.Stamp)
}

var errOtherList = errors.New("the list is of something else")
