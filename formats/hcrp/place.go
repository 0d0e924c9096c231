package hcrp

// A place is where bytes lie: in a segment, or in the file.
type place struct {
	segment int64 // -1: the file
	offset  int64
}

func (p place) segmentOrNil() *int {
	if p.segment < 0 {
		return nil
	}
	n := int(p.segment)
	return &n
}
