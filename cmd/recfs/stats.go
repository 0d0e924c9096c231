package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats"
	"recfs/fs"
)

const watchInterval = time.Second

var statsCommand = command{
	name:    "stats",
	args:    "[MOUNTPOINT]",
	summary: "Show what a mount has done and what it uses",
	about: `
The numbers are those of MOUNTPOINT/.recfs/stats.json. Without MOUNTPOINT it lists the mounts. The address of
a server of the same user on this machine, as 'recfs serve' prints it, may stand for MOUNTPOINT.`,
	run: runStats,
}

func runStats(flags *pflag.FlagSet) runFunc {
	watch := flags.Bool("watch", false, "show them again every second")
	flags.Bool("json", false, "print JSON")
	return func(ctx context.Context, e *env, args []string) error {
		switch {
		case len(args) == 0 && *watch:
			return usagef("stats: --watch needs a MOUNTPOINT")
		case len(args) == 0:
			return listMounts(ctx, e)
		}
		for {
			err := showStats(ctx, e, args[0], *watch && e.terminal)
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

// A mountLine is what stats --json prints of each mount.
type mountLine struct {
	Mountpoint    string     `json:"mountpoint"`
	MountpointHex string     `json:"mountpoint_hex,omitempty"` // if Mountpoint is not UTF-8
	Source        string     `json:"source"`
	SourceHex     string     `json:"source_hex,omitempty"` // if Source is not UTF-8
	Since         *time.Time `json:"since"`                // nil: it is that of another user
	Problems      *int       `json:"problems"`             // the same
}

// listMounts prints the mounts, one a line.
func listMounts(ctx context.Context, e *env) error {
	for _, dir := range fs.Mounts() {
		line, about := mountLine{Mountpoint: dir, MountpointHex: formats.HexOf(dir)}, "of another user"
		line.Source, _, _ = fs.Source(dir)
		line.SourceHex = formats.HexOf(line.Source)
		switch s, err := answer(ctx, dir); {
		case err == nil:
			line.Since, line.Problems = &s.Since, &s.Problems
			about = "since " + s.Since.Local().Format(time.DateTime) + ", " + count(s.Problems, "problem", "problems")
		case !slices.Contains(fs.Mounts(), dir): // it went meanwhile
			continue
		case !errors.Is(err, iofs.ErrPermission): // its server died
			e.fail(dir, err)
			continue
		}
		e.print(line, fmt.Sprintf("%s  %s  %s\n", e.fileName(line.Mountpoint), e.fileName(line.Source), about))
	}
	return ctx.Err()
}

// answerTime is how long a mount has to say how it is doing before the next one is asked.
var answerTime = 2 * time.Second

// answer returns what a mount says, or that it says nothing.
func answer(ctx context.Context, dir string) (s mountStats, err error) {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	s, _, err = readStats(ctx, dir)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it did not answer in %v", answerTime)
	}
	return s, err
}

// showStats prints how the mount at dir is doing, at the top of an empty screen if it is to be
// cleared.
func showStats(ctx context.Context, e *env, dir string, clearScreen bool) error {
	s, text, err := readStats(ctx, dir)
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
	if e.asJSON {
		b.Write(text)
	} else {
		s.write(&b)
	}
	_, err = e.stdout.Write(b.Bytes())
	return err
}

func (s mountStats) write(w io.Writer) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", what, printable(fmt.Sprintf(format, args...)))
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
	line("log", "%s", s.Log)
	line("cache dir", "%s", s.CacheDir)
	for _, r := range s.Remote {
		asked := r.Requests
		line("server", "%s: %d lists, %d heads, %d ranges, %d whole files, %s, %d retries, %d errors",
			r.Source, asked.List, asked.Head, asked.Range, asked.Get, humanSize(r.Bytes), r.Retries, r.Errors)
		if r.Unreachable != nil {
			line("unreachable", "since %s", r.Unreachable.Local().Format(time.DateTime))
		}
	}
}

// readStats returns what the mount at dir, or the server of that address, tells of itself, and the
// same as text.
func readStats(ctx context.Context, dir string) (s mountStats, text []byte, err error) {
	read := func() ([]byte, error) { return os.ReadFile(filepath.Join(dir, controlName, "stats.json")) }
	if isServed(dir) {
		read = func() ([]byte, error) { return readServerStats(dir) }
	}
	if text, err = within(ctx, read); err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, text, err
}

// statsDirs are where sockets lie at which servers tell how they are doing.
func statsDirs() (dirs []string) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "recfs"))
	}
	if dir, err := new(diskFlags).path(); err == nil {
		dirs = append(dirs, dir)
	}
	return dirs
}

// tellStats answers at a private socket with how m is doing, and returns what ends that.
func (s *webSession) tellStats(m *monitor) (stop func()) {
	var l net.Listener
	var err error = iofs.ErrNotExist
	for _, dir := range statsDirs() {
		if err = os.MkdirAll(dir, 0o700); err != nil {
			continue
		}
		if l, err = listenUnix(filepath.Join(dir, statsName(address(s.http)))); err == nil {
			break
		}
	}
	if err != nil {
		s.log.Warn("nothing tells how the server is doing", "err", err)
		return func() {}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, problems := m.archive.records.problemLines()
			_, _ = c.Write(marshal(m.stats(problems))) // an error says that the caller has gone
			c.Close()
		}
	}()
	return func() { l.Close() }
}

// address is where l listens, as a flag names it.
func address(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return unixPrefix + l.Addr().String()
	}
	return l.Addr().String()
}

// readServerStats returns what the server at a URL tells of itself.
func readServerStats(url string) ([]byte, error) {
	for _, dir := range statsDirs() {
		for _, addr := range statsAddresses(url) {
			c, failed := net.Dial("unix", filepath.Join(dir, statsName(addr)))
			if failed != nil {
				continue
			}
			defer c.Close()
			return io.ReadAll(c)
		}
	}
	return nil, errors.New("no server of this user on this machine answers there")
}

// statsName is the name of the socket at which the server of an address tells how it is doing.
func statsName(addr string) string {
	return strings.NewReplacer("/", "_", string(os.PathSeparator), "_").Replace(addr) + ".sock"
}

// statsAddresses are the addresses that a server may have that is asked for by a URL.
func statsAddresses(name string) []string {
	u, err := url.Parse(name)
	if err != nil || strings.HasPrefix(name, unixPrefix) {
		return []string{name}
	}
	host, port := u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return []string{net.JoinHostPort(host, port), net.JoinHostPort("::", port), net.JoinHostPort("0.0.0.0", port)}
}

// isServed reports whether a command line means a server by its address.
func isServed(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") || strings.HasPrefix(name, unixPrefix)
}
