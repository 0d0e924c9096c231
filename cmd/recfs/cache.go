package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/cache"
	"recfs/formats"
)

var cacheCommand = command{
	name:    "cache",
	args:    "[ls|prune|clear]",
	summary: "Look after the cache on disk",
	about: `
Without an argument it tells how much is kept of how many recordings, and of which the most. 'ls' lists all
files, 'prune' shrinks the cache to --cache-disk, 'clear' empties it. All of it can be made again.`,
	run: runCache,
}

func runCache(flags *pflag.FlagSet) runFunc {
	flags.Bool("json", false, "print JSON: with ls an object for each file")
	opt := readFlags(flags)
	return func(_ context.Context, e *env, args []string) error {
		dir, err := opt.disk.path()
		if err != nil {
			return err
		}
		disk := cache.NewDisk(dir, int64(opt.disk.limit), slog.New(slog.NewTextHandler(e.stderr, nil)))
		switch {
		case len(args) == 0:
			return e.summarizeCache(disk)
		case args[0] == "ls":
			return e.listCache(disk)
		case args[0] == "prune":
			return e.tellRemoved(disk.Prune(int64(opt.disk.limit)))
		case args[0] == "clear":
			return e.tellRemoved(disk.Clear())
		}
		return usagef("cache: name one of ls, prune and clear%s", didYouMean(args[0], []string{"ls", "prune", "clear"}))
	}
}

// tellRemoved tells what was removed from the cache, also before an error.
func (e *env) tellRemoved(files int, bytes int64, err error) error {
	e.print(struct {
		Files int   `json:"files"`
		Bytes int64 `json:"bytes"`
	}{files, bytes}, fmt.Sprintf("removed %s, %s\n", count(files, "file", "files"), humanSize(bytes)))
	return err
}

// shownLargest is how many recordings the summary of the cache names.
const shownLargest = 10

// noteName is what cache ls calls the file that says which content lies at a place.
const noteName = "note"

// A cacheFile is what cache ls prints of a file.
type cacheFile struct {
	File    string    `json:"file"`
	FileHex string    `json:"file_hex,omitempty"` // if File is not UTF-8
	Size    int64     `json:"size"`
	Used    time.Time `json:"used"` // about when it was used last
	cacheOwner
	Name    string `json:"name,omitempty"`     // what it keeps
	NameHex string `json:"name_hex,omitempty"` // if Name, which may have a path in it, is not UTF-8
}

// A cacheOwner tells where the recording lies of which something is kept.
type cacheOwner struct {
	Recording    string `json:"recording,omitempty"`
	RecordingHex string `json:"recording_hex,omitempty"` // if Recording is not UTF-8
}

func newCacheOwner(place string) cacheOwner { return cacheOwner{place, formats.HexOf(place)} }

// cacheFiles returns the files of the cache, the one unused for longest first.
func cacheFiles(disk *cache.Disk) ([]cacheFile, error) {
	items, err := disk.Items()
	if err != nil {
		return nil, err
	}
	places := map[string]string{} // where recordings were used last, by the key that their files have in front
	noted := map[string]string{}  // the same by the name of the note
	for _, it := range items {
		if !formats.IsNote(it.Name) {
			continue
		}
		if data, err := disk.Read(it); err == nil {
			if key, place, ok := formats.NotedPlace(data); ok {
				places[key], noted[it.Name] = place, place
			}
		}
	}
	files := make([]cacheFile, 0, len(items))
	for _, it := range items {
		f := cacheFile{File: it.Path, FileHex: formats.HexOf(it.Path), Size: it.Size, Used: it.Used.UTC(), Name: it.Name}
		key, rest, _ := strings.Cut(it.Name, "/")
		if place := places[key]; place != "" {
			f.cacheOwner, f.Name = newCacheOwner(place), rest
		} else if place := noted[it.Name]; place != "" {
			f.cacheOwner, f.Name = newCacheOwner(place), noteName
		}
		f.NameHex = formats.HexOf(f.Name)
		files = append(files, f)
	}
	return files, nil
}

// listCache prints the files of the cache.
func (e *env) listCache(disk *cache.Disk) error {
	files, err := cacheFiles(disk)
	if err != nil {
		return err
	}
	flush := e.buffer()
	var total int64
	for _, f := range files {
		total += f.Size
		name := cmp.Or(strings.TrimSpace(f.Recording+"  "+f.Name), f.File)
		e.print(f, cacheLine(f.Size, f.Used, name))
	}
	if !e.asJSON {
		fmt.Fprintf(e.stdout, "%s in %s, %s of %s\n", count(len(files), "file", "files"), disk.Dir(), humanSize(total), humanSize(disk.Limit()))
	}
	return flush()
}

// cacheLine is what is kept of something, for people.
func cacheLine(size int64, used time.Time, name string) string {
	return fmt.Sprintf("%10s  %s  %s\n", humanSize(size), used.Local().Format("2006-01-02 15:04"), printable(name))
}

// A cacheSummary is what cache tells without an argument.
type cacheSummary struct {
	Dir        string            `json:"directory"`
	DirHex     string            `json:"directory_hex,omitempty"` // if Dir is not UTF-8
	Size       int64             `json:"size"`
	Limit      int64             `json:"limit"`
	Files      int               `json:"files"`
	Recordings int               `json:"recordings"`
	Largest    []cachedRecording `json:"largest"` // recordings
	Other      int64             `json:"other"`   // bytes of copies, catalogues, notes and what else names no recording
}

// A cachedRecording is how much of a recording is kept.
type cachedRecording struct {
	cacheOwner
	Size int64     `json:"size"`
	Used time.Time `json:"used"`
}

// summarizeCache tells how much the cache keeps, and of what.
func (e *env) summarizeCache(disk *cache.Disk) error {
	files, err := cacheFiles(disk)
	if err != nil {
		return err
	}
	s := cacheSummary{Dir: disk.Dir(), DirHex: formats.HexOf(disk.Dir()), Limit: disk.Limit(), Files: len(files), Largest: []cachedRecording{}}
	by := map[string]*cachedRecording{}
	for _, f := range files {
		s.Size += f.Size
		if f.Recording == "" || f.Name == noteName {
			s.Other += f.Size
			continue
		}
		r := by[f.Recording]
		if r == nil {
			r = &cachedRecording{cacheOwner: f.cacheOwner}
			by[f.Recording] = r
		}
		r.Size += f.Size
		if f.Used.After(r.Used) {
			r.Used = f.Used
		}
	}
	s.Recordings = len(by)
	for _, r := range by {
		s.Largest = append(s.Largest, *r)
	}
	slices.SortFunc(s.Largest, func(a, b cachedRecording) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Recording, b.Recording))
	})
	s.Largest = s.Largest[:min(shownLargest, len(s.Largest))]
	e.print(s, s.text())
	return nil
}

// text is what people see of the summary.
func (s cacheSummary) text() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s of %s in %s, in %s\n", humanSize(s.Size), humanSize(s.Limit), count(s.Files, "file", "files"), s.Dir)
	for _, r := range s.Largest {
		w.WriteString(cacheLine(r.Size, r.Used, r.Recording))
	}
	if n := s.Recordings - len(s.Largest); n > 0 {
		fmt.Fprintf(w, "%10s  and of %s; 'recfs cache ls' lists all\n", "", count(n, "other recording", "other recordings"))
	}
	if s.Other > 0 {
		fmt.Fprintf(w, "%10s  copies, catalogues and what else names no recording\n", humanSize(s.Other))
	}
	return w.String()
}
