package main

import "path"

// A problemList collects the problems of one recording. Files that cannot be read are no problem of
// their own where a problem of the same file or place is known; neighbours count as one.
type problemList struct {
	problems []problem
	objects  map[string]bool
	offsets  map[int64]int  // index in problems, by where the bytes are damaged
	reasons  map[string]int // of those that do not say where
	run      int            // index of the problem of the file before, -1 if that was readable
	told     int            // so many problems are told by the recording
}

func newProblemList(told []problem) *problemList {
	l := &problemList{problems: told, objects: map[string]bool{}, offsets: map[int64]int{}, reasons: map[string]int{}, run: -1, told: len(told)}
	for i, p := range told {
		l.know(i, p)
	}
	return l
}

func (l *problemList) know(i int, p problem) {
	if p.Object != "" {
		l.objects[p.Object] = true
	}
	if p.at != nil {
		l.offsets[*p.at] = i
	} else {
		l.reasons[p.Reason] = i
	}
}

// cause returns the index of the problem known before that explains p.
func (l *problemList) cause(p problem) (int, bool) {
	if p.at != nil {
		i, ok := l.offsets[*p.at]
		return i, ok
	}
	i, ok := l.reasons[p.Reason]
	return i, ok
}

// endRun says that a file could be read.
func (l *problemList) endRun() { l.run = -1 }

// add takes in a file that cannot be read.
func (l *problemList) add(p problem) {
	if l.objects[p.Object] {
		return
	}
	if i, ok := l.cause(p); ok {
		l.count(i)
		return
	}
	if l.run >= 0 && path.Dir(l.problems[l.run].Object) == path.Dir(p.Object) {
		l.count(l.run)
		return
	}
	l.run = len(l.problems)
	l.problems = append(l.problems, p)
	l.know(l.run, p)
}

// count adds a file to those that cannot be read because of problem i.
func (l *problemList) count(i int) {
	if i >= l.told {
		l.problems[i].Files++
	}
}
