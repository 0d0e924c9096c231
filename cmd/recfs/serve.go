//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"recfs/fs"
	"recfs/nodes"
)

// A mountSession is a mount that this process serves.
type mountSession struct {
	flags       *mountFlags
	archive     *archive
	source, dir string // absolute
	root        nodes.Entry
	tree        nodes.Volatile // in root
	monitor     *monitor
	made        bool // dir was made for the mount, and cannot be marked so
}

// serve mounts source on dir and stays until the mount ends. A starter is told when it can be used.
func (m *mountFlags) serve(ctx context.Context, e *env, source, dir string, s *starter) error {
	source, err := absName(source)
	if err != nil {
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	a, err := m.open(e)
	if err != nil {
		return err
	}
	defer a.close()
	a.options.Shared, a.options.Follow = m.allowOther, true
	if m.log.background { // others write there, too
		a.log = a.log.With("source", source)
		a.options.Log = a.log
	}
	p := &mountSession{flags: m, archive: a, source: source, dir: dir, monitor: newMonitor(source, a)}
	if err := p.openTree(ctx); err != nil {
		return err
	}
	signals, ignore := unmountSignals()
	defer ignore()
	if err := ctx.Err(); err != nil { // one came before
		return err
	}
	stopServing, err := p.serveWeb(e)
	if err != nil {
		return err
	}
	defer stopServing()
	defer func() { removeMountPoint(dir, p.made) }()
	server, err := p.mount(ctx)
	if err != nil {
		return err
	}
	p.monitor.server.Store(server)
	addWaiting()
	p.announce(ctx, e)
	p.ready(s)
	return waitForEnd(server, signals)
}

// openTree opens what is mounted.
func (p *mountSession) openTree(ctx context.Context) error {
	root, err := p.archive.source(ctx, p.source)
	if err != nil {
		return err
	}
	tree, ok := root.Dir.(nodes.Volatile)
	if !ok {
		return fmt.Errorf("%s: not a recording", p.source)
	}
	if _, err := nodes.Child(ctx, root.Dir, "."); err != nil {
		return err
	}
	if _, err := tree.Lookup(ctx, controlName); err == nil {
		p.archive.log.Warn("hidden by what tells about the mount", "path", controlName)
	}
	p.root, p.tree = root, tree
	return nil
}

// serveWeb serves what is mounted on the network, too, if the flags say so.
func (p *mountSession) serveWeb(e *env) (stop func(), err error) {
	f := &p.flags.web
	if f.listen == "" {
		p.flags.webSet.VisitAll(func(flag *pflag.Flag) {
			if flag.Changed && err == nil {
				err = usagef("mount: --%s needs --serve", flag.Name)
			}
		})
		return func() {}, err
	}
	s, err := f.open(e, p.archive, p.root)
	if err != nil {
		return nil, err
	}
	stop, _ = s.start(e, p.monitor)
	return stop, nil
}

// unmountSignals returns the signals that end a mount, from now on, until stop is called.
func unmountSignals() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals, func() { signal.Stop(signals) }
}

// mount mounts the tree. Mounts that end there this moment may remove dir before it is mounted on,
// each once.
func (p *mountSession) mount(ctx context.Context) (server *fs.Server, err error) {
	for range 100 {
		server, err = p.tryMount()
		if err == nil || ctx.Err() != nil { // a look at what is mounted would ask this process
			break
		}
		if _, err := os.Lstat(p.dir); !errors.Is(err, iofs.ErrNotExist) {
			break
		}
	}
	return server, err
}

func (p *mountSession) tryMount() (*fs.Server, error) {
	var err error
	p.made, err = makeMountPoint(p.source, p.dir)
	if err == nil {
		err = p.flags.checkShown(p.dir)
	}
	if err != nil {
		return nil, err
	}
	if at, err := fs.MountPoint(p.dir); err == nil {
		p.archive.catalogue.Mounted(at)
	}
	return fs.Mount(p.dir, &mountRoot{p.tree, p.monitor.entry()}, p.flags.mountOptions(p.source, p.archive))
}

// addWaiting lets Go run as many goroutines more at a time as wait in the kernel for a request
// while nobody has one, mostly two. Each occupies one of the places that there are for running
// goroutines, as many as processors. On few processors none is left, and then the scheduler takes
// these places away after 20 microseconds and wakes threads to look for work in them: which is at
// every request of a program that asks one thing after the other. The library has counted the
// processors by now, so there are no more who wait than before.
func addWaiting() {
	const waiting = 2
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waiting)
}

// ready tells whoever waits that the mount can be used.
func (p *mountSession) ready(s *starter) {
	if s != nil {
		if err := leaveTerminal(); err != nil {
			p.archive.log.Warn("cannot leave the terminal", "err", err)
		}
		s.tell(nil)
	}
	notifySystemd("READY=1")
}

// announceTime is how long the line about a mount may take to count recordings.
const announceTime = 300 * time.Millisecond

// announce says on a terminal what is mounted where, how many recordings have an index, if that is
// known soon, and how the mount ends.
func (p *mountSession) announce(ctx context.Context, e *env) {
	if !isTerminal(e.stderr) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	all, indexed := 0, 0
	for s, err := range p.archive.catalogue.Summaries(ctx, p.tree) {
		if err == nil && s.Format != "" && !s.IsContainer() {
			all++
			if s.Indexed {
				indexed++
			}
		}
	}
	known := ""
	if ctx.Err() == nil {
		known = fmt.Sprintf(", %d of %s indexed", indexed, count(all, "recording", "recordings"))
	}
	fmt.Fprintln(e.stderr, printable(fmt.Sprintf("%s is mounted on %s%s; 'recfs umount %s' ends it", p.source, p.dir, known, p.dir)))
}

// waitForEnd returns when the mount has ended. A signal ends it. If it was in use then, it goes on
// for those who use it, until the next signal.
func waitForEnd(server *fs.Server, signals <-chan os.Signal) error {
	ended := make(chan struct{})
	go func() {
		server.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-signals:
	}
	notifySystemd("STOPPING=1")
	if err := server.Unmount(); err != nil || !server.Detached() {
		return err
	}
	select {
	case <-ended:
	case <-signals:
	}
	return nil
}

func (m *mountFlags) mountOptions(source string, a *archive) fs.Options {
	var modified time.Time
	if info, err := os.Stat(source); err == nil {
		modified = info.ModTime()
	}
	return fs.Options{
		Cache: a.cache,
		Log:   a.log, FsName: source, Time: modified,
		UID: m.uid, GID: m.gid, Umask: iofs.FileMode(value(m.umask)), AllowOther: m.allowOther,
		ReadDirPlus: m.readDirPlus, EntryTimeout: value(m.entryTimeout),
		Space: func() (total, free uint64) {
			var st unix.Statfs_t
			if err := unix.Statfs(source, &st); err != nil {
				return 0, 0
			}
			return st.Blocks * uint64(st.Bsize), st.Bavail * uint64(st.Bsize)
		},
	}
}

// leaveTerminal cuts the ties of a process in the background to where it was started.
func leaveTerminal() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if err := unix.Dup3(int(null.Fd()), int(os.Stderr.Fd()), 0); err != nil {
		return err
	}
	return os.Chdir("/")
}
