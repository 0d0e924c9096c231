//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"recfs/bench/internal/harness"
)

// A job is one process of recfs cp: it copies children of one directory, whole.
type job struct {
	dir   string
	names []string
}

// throughCopy returns the records of what recfs cp makes of source. A directory goes as a whole if
// nothing below it is left out.
func (m *maker) throughCopy(ctx context.Context) ([]record, error) {
	l, err := m.list(ctx)
	if err != nil {
		return nil, err
	}
	jobs := copyJobs(l)
	all := l.records(m)
	var mu sync.Mutex
	err = parallel(ctx, len(jobs), func(i int) error {
		records, err := m.copyJob(ctx, l, jobs[i], strconv.Itoa(i))
		mu.Lock()
		defer mu.Unlock()
		all = append(all, records...)
		return err
	})
	return all, err
}

// copyJobs divides the tree into processes.
func copyJobs(l *listing) (jobs []job) {
	divided := dividedDirs(l)
	for _, dir := range l.sorted() {
		if !divided[dir] {
			continue
		}
		names := slices.DeleteFunc(slices.Clone(l.dirs[dir].names), func(name string) bool { return divided[path.Join(dir, name)] })
		for part := range slices.Chunk(names, batch) {
			jobs = append(jobs, job{dir, part})
		}
	}
	return jobs
}

// dividedDirs returns the directories that are not copied as a whole: the root, those of which
// files are left out, and those that hold such.
func dividedDirs(l *listing) map[string]bool {
	divided := map[string]bool{".": true}
	for dir, listed := range l.dirs {
		if !listed.partial {
			continue
		}
		for ; !divided[dir]; dir = path.Dir(dir) {
			divided[dir] = true
		}
	}
	return divided
}

// copyJob runs one process, and returns the records of the files and links that it was to copy.
func (m *maker) copyJob(ctx context.Context, l *listing, j job, name string) ([]record, error) {
	dest := filepath.Join(m.temp, "copy-"+name)
	if err := os.Mkdir(dest, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dest)
	args := []string{"-rp"}
	for _, name := range j.names {
		args = append(args, m.path(path.Join(j.dir, name)))
	}
	messages, err := m.program.Run(ctx, nil, "cp", append(args, dest)...)
	if err != nil && !errors.Is(err, harness.ErrDamaged) {
		return nil, err
	}
	failures := m.failures(messages)
	var all []record
	l.below(j, func(rel string) {
		within, _ := filepath.Rel(j.dir, rel)
		r := copied(filepath.Join(dest, within), rel, failures[rel])
		if listed := l.leaf(rel); m.another(listed, r, path.Dir(rel) == j.dir) {
			r = listed
			r.fields[colError] = ownSource
		}
		all = append(all, r)
	})
	return all, nil
}

// another reports whether what was copied need not be what was listed. Commands follow a link that
// is their argument; a directory on disk is a source of its own, from which links lead out.
func (m *maker) another(listed, copied record, argument bool) bool {
	if listed.kind() == kindLink {
		return argument || m.onDisk(listed.path)
	}
	return copied.kind() == kindDir && m.inFile(listed.path)
}

// below calls visit for every path below the names of j that is no directory.
func (l *listing) below(j job, visit func(rel string)) {
	for _, name := range j.names {
		rel := path.Join(j.dir, name)
		if dir, ok := l.dirs[rel]; ok {
			l.below(job{rel, dir.names}, visit)
		} else {
			visit(rel)
		}
	}
}

// copied returns the record of a copy. One that is not there was not made, for reason.
func copied(name, rel, reason string) record {
	r := newRecord(rel, kindFile)
	info, err := os.Lstat(name)
	if err != nil {
		r.fields[colError] = "not copied: " + reason
		return r
	}
	switch {
	case info.IsDir():
		r.fields[colKind] = kindDir
	case info.Mode()&os.ModeSymlink != 0:
		r.fields[colKind] = kindLink
		r.fields[colSum], err = os.Readlink(name)
	default:
		r.setSize(info.Size())
		r.setMtime(info.ModTime())
		var sum []byte
		sum, err = sumFile(name)
		r.setSum(sum)
	}
	if err != nil {
		r.fields[colError] = err.Error()
	} else if reason != "" {
		r.fields[colError] = reason
	}
	return r
}
