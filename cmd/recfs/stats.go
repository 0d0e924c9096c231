package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/fs"
)

const watchInterval = time.Second

func statsCommand(flags *pflag.FlagSet) runFunc {
	watch := flags.Bool("watch", false, "show them again every second")
	asJSON := flags.Bool("json", false, "print JSON")
	return func(ctx context.Context, e *env, args []string) error {
		for {
			err := showStats(e.stdout, args[0], *asJSON, *watch && e.terminal)
			if err != nil || !*watch {
				return err
			}
			select {
			case <-time.After(watchInterval):
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// showStats prints how the mount at dir is doing, at the top of an empty screen if it is to be cleared.
func showStats(w io.Writer, dir string, asJSON, clearScreen bool) error {
	s, text, err := readStats(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("%s: not a mount of recfs", dir)
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if clearScreen {
		b.WriteString("\x1b[H\x1b[2J") // home, clear
	}
	if asJSON {
		b.Write(text)
	} else {
		s.write(&b)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// readStats returns what the mount at dir tells of itself, and the same as text.
func readStats(dir string) (mountStats, []byte, error) {
	var s mountStats
	text, err := os.ReadFile(filepath.Join(dir, controlName, "stats.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, text, err
}

// sourceOf returns the path of what a mount shows under name, or name if it is in no mount. Commands that
// ask recordings more than their files tell need it.
func sourceOf(name string) string {
	at, err := filepath.EvalSymlinks(name) // also where a ".." behind a link leads
	if err == nil {
		at, err = filepath.Abs(at)
	}
	if err == nil {
		at, err = filepath.EvalSymlinks(at) // $PWD may have links
	}
	if err != nil {
		return name
	}
	for dir := at; ; dir = filepath.Dir(dir) {
		if source, ok := fs.Source(dir); ok {
			return filepath.Join(source, strings.TrimPrefix(at, dir))
		}
		if dir == filepath.Dir(dir) {
			return name
		}
	}
}

func (s mountStats) write(w io.Writer) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", what, oneLine(fmt.Sprintf(format, args...)))
	}
	line("source", "%s", s.Source)
	line("mounted", "%s (%s)", s.Since.Local().Format(time.DateTime), time.Since(s.Since).Round(time.Second))
	var operations []string
	for _, name := range slices.Sorted(maps.Keys(s.Operations)) {
		if n := s.Operations[name]; n > 0 {
			operations = append(operations, fmt.Sprintf("%s %d", strings.ToLower(name), n))
		}
	}
	line("requests", "%s", strings.Join(operations, ", "))
	line("errors", "%d", s.Errors)
	line("served", "%s", humanSize(int64(s.BytesServed)))
	line("read", "%s of sources", humanSize(s.BytesRead))
	line("cache", "%s of %s, %d hits, %d misses (%d spared by the disk), %s decoded",
		humanSize(s.Cache.Bytes), humanSize(s.Cache.Budget), s.Cache.Hits, s.Cache.Misses, s.Cache.DiskHits, humanSize(s.Cache.Computed))
	line("memory", "%s, heap %s", humanSize(int64(s.Memory.System)), humanSize(int64(s.Memory.Heap)))
	line("held", "%s by the kernel, %s", count(s.Nodes, "node", "nodes"), count(s.OpenFiles, "open file", "open files"))
	line("problems", "%d", s.Problems)
}
