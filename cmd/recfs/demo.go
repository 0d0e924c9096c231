package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

var demoCommand = command{
	name:    "demo",
	args:    "FILE [FROM] [TO]",
	summary: "Make a demo that the DDNet client plays",
	about: `
FILE is a teehistorian recording. The demo shows the ticks FROM to TO, at most half an hour. Times will do,
too: of the recording such as 1:02:03 or 75:30, of the day in UTC such as 14:27:00 if the recording is shorter
than that, or 2026-11-21T14:27:00Z. With --run it is the fastest run of a player to the finish, or of all. It goes
to standard output or to the file that -o names. The client plays it if it has the map.

With --best-per-map, FILE is an archive, and each map on which somebody finished gets a demo of the best run:
MAP.demo in the directory that -o names. The recordings must be indexed ('recfs index').` + aboutInput,
	run: runDemo,
}

// A demoRequest is what recfs demo was asked for.
type demoRequest struct {
	formats.DemoQuery
	output     string
	bestPerMap bool
}

func runDemo(flags *pflag.FlagSet) runFunc {
	q := &demoRequest{}
	flags.StringVar(&q.Follow, "follow", "", "let the camera follow `PLAYER`, a name or a directory of players/")
	flags.StringVar(&q.Run, "run", "", "the fastest run of `PLAYER`, or with best that of all players")
	offer(flags, "run", formats.AnyRun)
	flags.StringVar(&q.Around, "around", "", "what happened around `TIME`, half a minute before and after, or as TIME±10s or TIME+-10s says")
	flags.BoolVar(&q.bestPerMap, "best-per-map", false, "the best run on every map of the archive FILE")
	flags.StringVarP(&q.output, "output", "o", "", "write to `FILE`, in a directory under the name that the demo has in a mount")
	return readFlags(flags).orInput().opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		if err := q.check(len(args)); err != nil {
			return err
		}
		if q.output == "-" || q.output == "/dev/stdout" {
			q.output = ""
		}
		e.far = func() string {
			if q.output != "" {
				return nothingWritten
			}
			return "the demo is not whole" + fromStart
		}
		if q.bestPerMap {
			return q.makeBest(ctx, e, a, args[0])
		}
		if err := q.make(ctx, e, a, args); err != nil {
			e.fail(args[0], err)
		}
		return nil
	})
}

// check returns an error if the flags do not go together, beside so many arguments.
func (q *demoRequest) check(args int) error {
	switch {
	case q.bestPerMap && (q.Run != "" || q.Follow != "" || q.Around != "" || args > 1 || q.output == ""):
		return usagef("demo: --best-per-map takes an archive and -o DIR alone")
	case q.Run != "" && (args > 1 || q.Follow != "" || q.Around != ""):
		return usagef("demo: --run goes without FROM, TO, --around and --follow")
	case q.Around != "" && args > 1:
		return usagef("demo: --around goes without FROM and TO")
	case q.Run == "" && q.Around == "" && !q.bestPerMap && args != 3:
		return usagef("demo: FROM and TO are missing, or --around or --run")
	}
	return nil
}

// make makes the demo.
func (q *demoRequest) make(ctx context.Context, e *env, a *archive, args []string) error {
	recording, format, o, err := a.recording(ctx, args[0])
	if _, broken := errors.AsType[*archives.NotOpenError](err); broken || err == errNoRecording || err == nil && format.Demo == nil {
		return errors.New("only teehistorian recordings have demos")
	}
	if err != nil {
		return err
	}
	x, err := o.Index(ctx)
	if err != nil {
		return err
	}
	if len(args) == 3 {
		q.From, q.To = args[1], args[2]
	}
	d, err := format.Demo(o.Head, x, q.DemoQuery)
	if err != nil {
		return err
	}
	demo, err := nodes.Follow(ctx, recording.Dir, d.Path)
	if err != nil {
		return err
	}
	about := length(new(d.Length.Milliseconds())) + ", " + d.About
	return q.write(ctx, e, args[0], demo.Inherit(recording.Attr), about)
}

// write writes the demo, which was made of the recording called name, and says what it is.
func (q *demoRequest) write(ctx context.Context, e *env, name string, demo nodes.Entry, about string) error {
	put := func(w io.Writer) error {
		_, err := copyFile(ctx, w, demo.File)
		return err
	}
	if q.output == "" {
		if e.terminal {
			return errors.New("a terminal cannot show a demo; -o writes it to a file")
		}
		return put(e.stdout)
	}
	target := q.output
	if e.stream(target) == nil {
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			target = filepath.Join(target, demo.Name)
		}
		if err := checkTarget(name, target); err != nil && name != stdinName {
			return err
		}
	}
	if err := e.create(target, modeOfCopy(demo, 0o666), put); err != nil {
		return err
	}
	size, err := demo.File.Size(ctx)
	if err == nil && e.stream(target) == nil {
		fmt.Fprintf(e.stderr, "%s: %s, %s; the DDNet client plays what is in ~/.local/share/ddnet/demos\n", printable(target), printable(about), humanSize(size))
	}
	return err
}

// makeBest makes the demo of the best run of each map in an archive.
func (q *demoRequest) makeBest(ctx context.Context, e *env, a *archive, dir string) error {
	f := &finder{env: e, a: a, finished: true}
	f.judgeAll(ctx, []string{dir})
	f.sortRuns()
	if err := os.MkdirAll(q.output, 0o777); err != nil {
		return notWritten(q.output, err)
	}
	made := map[string]string{} // maps, by their demos
	runs := slices.DeleteFunc(f.found, func(r finishedRun) bool { return r.Demo == "" })
	for _, r := range slices.CompactFunc(runs, func(a, b finishedRun) bool { return a.Map == b.Map }) {
		demo, err := a.resolve(ctx, sourceOf(r.Demo))
		if err == nil {
			one := demoRequest{output: filepath.Join(q.output, nodes.SafeName(r.Map)+".demo")}
			if first, ok := made[one.output]; ok {
				f.fail(r.Demo, fmt.Errorf("%s is the demo of the map %q already", one.output, first))
				continue
			}
			made[one.output] = r.Map
			err = one.write(ctx, e, r.Path, demo, fmt.Sprintf("%s finished in %.2f s", r.Player, float64(r.TimeMS)/1000))
		}
		if err != nil {
			f.fail(r.Demo, err)
		}
	}
	f.failures += f.unknown + f.unlisted
	f.tellUnknown("recfs index")
	return nil
}
