package teehistorian

import (
	"context"

	"recfs/formats"
)

// log renders the part of events.txt in group g. whole is false if it ends before a line that is
// held back.
func (r *recording) log(ctx context.Context, g int) (b []byte, whole bool, err error) {
	group := &r.idx.lines[g]
	if group.Size > 2*lineGroupSize { // a line is very long
		held, err := formats.Charge(ctx, 4*group.Size)
		if err != nil {
			return nil, false, err
		}
		defer held.Free()
	}
	for l, err := range group.all(len(r.dirs)) {
		if err != nil {
			return nil, false, err
		}
		if r.holds(&l) {
			return b, false, nil
		}
		b = r.events.append(b, &l)
	}
	return b, true, nil
}

// holds reports whether a line of a growing recording is held back, as one of its stays may still
// get a name.
func (r *recording) holds(l *logLine) bool {
	return r.growing && (r.mayBeNamed(l.Who, l.Tick) || l.With != nil && r.mayBeNamed(*l.With, l.Tick))
}

// mayBeNamed reports whether a stay has no name and may still get one for a line of that tick.
func (r *recording) mayBeNamed(of who, tick int32) bool {
	if of.Stay == noStay {
		return false
	}
	s := r.idx.stays[of.Stay]
	return len(s.Names) == 0 && s.Drop == nil && r.idx.tail.Tick-nameDelay <= tick
}

// who returns what stands for a stay in a line of that tick: its directory, or the client id if its
// name came too late or never.
func (r *recording) who(stay, tick int32) string {
	s := r.idx.stays[stay]
	if len(s.Names) == 0 || s.Named-nameDelay > tick {
		return idText(s.CID)
	}
	return r.dirs[stay]
}
