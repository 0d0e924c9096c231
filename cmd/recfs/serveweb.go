package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

var serveCommand = command{
	name:    "serve",
	args:    "SOURCE",
	summary: "Show an archive to browsers, programs and S3 clients on the network",
	about: `
It serves the tree of a mount of SOURCE over HTTP, and says where on standard output once it answers. It
stays in the foreground until SIGINT or SIGTERM; requests at work then have five seconds to end. SIGHUP has
it read the files of tokens, keys and certificates again. 'recfs stats http://127.0.0.1:8030/' tells how it
is doing.

Only this machine is let in without a secret. Another address needs --token-file, that of --s3-listen
--s3-keys, and both TLS or --insecure-http. Addresses are HOST:PORT, :PORT for all of the machine, or
unix:PATH.`,
	run: runServe,
}

func runServe(flags *pflag.FlagSet) runFunc {
	var f webFlags
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8030", "answer at `ADDR`")
	f.register(flags)
	opt := readFlags(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		source, err := absName(args[0])
		if err != nil {
			return err
		}
		a, err := opt.open(e)
		if err != nil {
			return err
		}
		defer a.close()
		a.options.Follow = true
		m := newMonitor(source, a)
		root, err := a.source(ctx, source)
		if err != nil {
			return err
		}
		if root.Dir == nil {
			return fmt.Errorf("%s: not a recording", args[0])
		}
		s, err := f.open(e, a, root)
		if err != nil {
			return err
		}
		return s.run(ctx, e, m)
	}
}

// run answers requests until ctx ends.
func (s *webSession) run(ctx context.Context, e *env, m *monitor) error {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	stop, failed := s.start(e, m)
	defer stop()
	notifySystemd("READY=1")
	for {
		select {
		case <-ctx.Done():
			notifySystemd("STOPPING=1")
			return nil
		case err := <-failed:
			return err
		case <-hup:
			if err := s.reload(); err != nil {
				s.log.Error("secrets are not read again", "err", err)
			}
		}
	}
}
