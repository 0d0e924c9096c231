package hcrp

var (
	bareEntity = len((&entity{}).append(nil, 0)) - len("0") - 7*len("null") // with neither its id nor what is null
	bareBlock  = len(appendBlock(nil, blockAt{}, nil)) - blockAtLen(blockAt{}) - len("null")
)

// size returns how many bytes append appends beside the id.
func (e *entity) size() int {
	n := bareEntity + len(e.itemList())
	if e.placed {
		n += positionLen(e.pos[:])
	} else {
		n += len("null")
	}
	for _, text := range [...][]byte{e.kind, e.velocity, e.pose, e.flags, e.using, e.slot} {
		n += textSize(text)
	}
	return n
}

// blockSize returns how many bytes appendBlock appends.
func blockSize(at blockAt, state []byte) int { return bareBlock + blockAtLen(at) + textSize(state) }

// textSize returns how many bytes appendText appends behind the key.
func textSize(text []byte) int {
	if len(text) == 0 {
		return len("null")
	}
	return len(text)
}
