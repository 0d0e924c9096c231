package teehistorian

import (
	"context"

	"recfs/formats"
)

// log renders the part of events.txt in group g. whole is false if it ends before a line that is
// held back.
func (r *recording) log(ctx context.Context, g int) (b []byte, whole bool, err error) {
	group := &r.idx.lines[g]
	if group.size > 2*lineGroupSize { // a line is very long
		held, err := formats.Charge(ctx, 4*group.size)
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
	return r.growing && (r.mayBeNamed(l.who, l.tick) || l.with != nil && r.mayBeNamed(*l.with, l.tick))
}

// mayBeNamed reports whether a stay has no name and may still get one for a line of that tick.
func (r *recording) mayBeNamed(of who, tick int32) bool {
	if of.stay == noStay {
		return false
	}
	s := r.idx.stays[of.stay]
	return len(s.names) == 0 && s.drop == nil && r.idx.tail.tick-nameDelay <= tick
}

// who returns what stands for a stay in a line of that tick: its directory, or the client id if its
// name came too late or never.
func (r *recording) who(stay, tick int32) string {
	s := r.idx.stays[stay]
	if len(s.names) == 0 || s.named-nameDelay > tick {
		return idText(s.cid)
	}
	return r.dirs[stay]
}
