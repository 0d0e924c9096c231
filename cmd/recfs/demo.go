package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

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
FILE is a teehistorian recording. The demo shows the ticks FROM to TO, at most half an hour; times of the
recording such as 1:02:03 or 75:30 will do, too. With --run it is the fastest run of a player to the finish,
or of all. It goes to standard output or to the file that -o names. The client plays it if it has the map.`,
	run: runDemo,
}

// A demoRequest is what recfs demo was asked for.
type demoRequest struct {
	formats.DemoQuery
	output string
}

func runDemo(flags *pflag.FlagSet) runFunc {
	q := &demoRequest{}
	flags.StringVar(&q.Follow, "follow", "", "let the camera follow the player `NAME`, or the one with that directory in players/")
	flags.StringVar(&q.Run, "run", "", "the fastest run of `PLAYER`, or with best that of all players")
	offer(flags, "run", formats.AnyRun)
	flags.StringVarP(&q.output, "output", "o", "", "write to `FILE`, in a directory under the name that the demo has in a mount")
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		switch ticks := len(args) == 3; {
		case q.Run != "" && (len(args) > 1 || q.Follow != ""):
			return usagef("demo: --run goes without FROM, TO and --follow")
		case q.Run == "" && !ticks:
			return usagef("demo: FROM and TO are missing, or --run")
		}
		if q.output == "-" || q.output == "/dev/stdout" {
			q.output = ""
		}
		f := failures{env: e}
		e.far = func() string {
			if q.output != "" {
				return nothingWritten
			}
			return "the demo is not whole" + fromStart
		}
		if err := q.make(ctx, e, a, args); err != nil {
			f.fail(args[0], err)
		}
		return f.result()
	})
}

// make makes the demo.
func (q *demoRequest) make(ctx context.Context, e *env, a *archive, args []string) error {
	recording, format, o, err := a.recording(ctx, args[0])
	if _, broken := errors.AsType[*archives.NotOpenError](err); broken || err == errNoRecording || err == nil && format.Demo == nil {
		return errNoDemos
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
	name, err := format.Demo(x, q.DemoQuery)
	if err != nil {
		return err
	}
	demo, err := nodes.Follow(ctx, recording.Dir, name)
	if err != nil {
		return err
	}
	return q.write(ctx, e, args[0], demo.Inherit(recording.Attr))
}

var errNoDemos = errors.New("is no recording of which there are demos")

// write writes the demo, which was made of the recording called name.
func (q *demoRequest) write(ctx context.Context, e *env, name string, demo nodes.Entry) error {
	if q.output == "" {
		if e.terminal {
			return errors.New("a terminal cannot show a demo; -o writes it to a file")
		}
		return copyFile(ctx, e.stdout, demo.File)
	}
	target := q.output
	if e.stream(target) == nil {
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			target = filepath.Join(target, demo.Name)
		}
		if err := checkTarget(name, target); err != nil {
			return err
		}
	}
	return e.create(target, modeOfCopy(demo, 0o666), func(w io.Writer) error { return copyFile(ctx, w, demo.File) })
}
