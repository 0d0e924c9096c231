package main

import "path"

// A problemList collects the problems of one recording. Files that cannot be read are no problem of
// their own where a problem of the same file or place is known; neighbours count as one.
type problemList struct {
	problems []problem
	objects  map[string]bool
	causes   map[cause]int // index in problems
	run      int           // index of the problem of the file before, -1 if that was readable
	told     int           // so many problems are told by the recording
}

// A cause is what the problems of several files may have in common: where the bytes are damaged, or of those
// that do not say so the reason.
type cause struct {
	offset int64
	reason string
}

func (p problem) cause() cause {
	if p.at != nil {
		return cause{offset: *p.at}
	}
	return cause{reason: p.Reason}
}

func newProblemList(told []problem) *problemList {
	l := &problemList{objects: map[string]bool{}, causes: map[cause]int{}, run: -1, told: len(told)}
	for _, p := range told {
		l.put(p)
	}
	return l
}

// put takes in a problem of its own.
func (l *problemList) put(p problem) {
	l.objects[p.Object] = p.Object != ""
	l.causes[p.cause()] = len(l.problems)
	l.problems = append(l.problems, p)
}

// endRun says that a file could be read.
func (l *problemList) endRun() { l.run = -1 }

// add takes in a file that cannot be read. A problem that explains it counts how many do so, unless the recording tells of it.
func (l *problemList) add(p problem) {
	i, known := l.causes[p.cause()]
	if !known && l.run >= 0 && path.Dir(l.problems[l.run].Object) == path.Dir(p.Object) {
		i, known = l.run, true
	}
	switch {
	case l.objects[p.Object]:
	case !known:
		l.run = len(l.problems)
		l.put(p)
	case i >= l.told:
		l.problems[i].Files++
	}
}
