package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"recfs/cache"
	"recfs/formats"
)

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
func listCache(out io.Writer, disk *cache.Disk, asJSON bool) error {
	files, err := cacheFiles(disk)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	var total int64
	for _, f := range files {
		total += f.Size
		if asJSON {
			if err := writeJSON(w, f); err != nil {
				return err
			}
			continue
		}
		name := cmp.Or(strings.TrimSpace(f.Recording+"  "+f.Name), f.File)
		fmt.Fprintf(w, "%10s  %s  %s\n", humanSize(f.Size), f.Used.Local().Format("2006-01-02 15:04"), printable(name))
	}
	if !asJSON {
		fmt.Fprintf(w, "%s in %s, %s of %s\n", count(len(files), "file", "files"), disk.Dir(), humanSize(total), humanSize(disk.Limit()))
	}
	return w.Flush()
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
func summarizeCache(out io.Writer, disk *cache.Disk, asJSON bool) error {
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
	if asJSON {
		return writeJSON(out, s)
	}
	return s.write(out)
}

func (s cacheSummary) write(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s of %s in %s, in %s\n", humanSize(s.Size), humanSize(s.Limit), count(s.Files, "file", "files"), s.Dir)
	for _, r := range s.Largest {
		fmt.Fprintf(w, "%10s  %s  %s\n", humanSize(r.Size), r.Used.Local().Format("2006-01-02 15:04"), printable(r.Recording))
	}
	if n := s.Recordings - len(s.Largest); n > 0 {
		fmt.Fprintf(w, "%10s  and of %s; 'recfs cache ls' lists all\n", "", count(n, "other recording", "other recordings"))
	}
	if s.Other > 0 {
		fmt.Fprintf(w, "%10s  copies, catalogues and what else names no recording\n", humanSize(s.Other))
	}
	return w.Flush()
}
