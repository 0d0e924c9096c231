//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"recfs/nodes"
)

const (
	maxRead         = 256 << 10 // bytes in one READ; it also sizes the buffers that wait for requests
	maxReadAhead    = 512 << 10
	maxBackground   = 16 // READs ahead of the program
	maxRequestBytes = 64 << 20
	unmountGrace    = 2 * time.Second
	unmountRetry    = 50 * time.Millisecond
)

// A Server serves one mount.
type Server struct {
	dir  string
	tree *server
	log  *slog.Logger
	done chan struct{}

	detached atomic.Bool
}

// Mount serves the tree at the directory dir, which exists, until it is
// unmounted. As root it needs no helper, otherwise fusermount3 has to be
// installed. What an earlier process of ours left mounted there when it died
// is cleared away. The serving process must not use the mount itself.
func Mount(dir string, root nodes.Dir, opt Options) (*Server, error) {
	s, err := mount(dir, root, opt)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return s, nil
}

func mount(dir string, root nodes.Dir, opt Options) (*Server, error) {
	dir, err := MountPoint(dir)
	if err != nil {
		return nil, err
	}
	if err := prepare(dir, opt.logger()); err != nil {
		return nil, err
	}
	isRoot := os.Geteuid() == 0
	if !isRoot {
		if err := checkDevice(); err != nil {
			return nil, err
		}
		if err := checkHelper(opt.AllowOther); err != nil {
			return nil, err
		}
	}
	tree := newServer(root, &opt)
	protocol, device, err := connect(tree, dir, fuseOptions(&opt, tree, isRoot))
	if err != nil {
		return nil, err
	}
	tree.pending = func(thread uint32) (signals, bool) {
		if isCutOff(device) {
			return fatalSignals, true
		}
		return procPending(thread)
	}
	s := &Server{dir: dir, tree: tree, log: opt.logger(), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		protocol.Serve()
		s.log.Info("unmounted", "path", dir)
	}()
	// No protocol.WaitMount: the mount is there, and that opens a file in it. If
	// we were killed meanwhile, the process would wait for itself for ever.
	readAhead(dir)
	s.log.Info("mounted", "path", dir)
	return s, nil
}

// fuseOptions returns what go-fuse is to do, and to ask of the kernel.
func fuseOptions(opt *Options, tree *server, isRoot bool) *fuse.MountOptions {
	return &fuse.MountOptions{
		Name:                    fsName,
		FsName:                  cmp.Or(opt.FsName, fsName),
		Options:                 opt.words(),
		AllowOther:              opt.AllowOther,
		DirectMountStrict:       isRoot,
		MaxWrite:                maxRead,
		MaxBackground:           maxBackground,
		MaxInflightRequestBytes: maxRequestBytes,
		DisableXAttrs:           true,
		DisableSplice:           true,
		EnableSymlinkCaching:    true,
		DisableReadDirPlus:      opt.ReadDirPlus == ReadDirPlusOff,
		ExtraCapabilities:       opt.ReadDirPlus.capabilities(),
		PanicHandler:            tree.panicked,
		Logger:                  log.New(debugWriter{opt.logger()}, "", 0),
	}
}

// connect mounts and returns the descriptor of the device, too. go-fuse leaves it open for children
// if it mounts by itself; a child that outlives us would then keep a dead mount hanging, so no
// child may start before that is put right.
func connect(tree *server, dir string, opt *fuse.MountOptions) (protocol *fuse.Server, device int, err error) {
	if opt.DirectMountStrict { // otherwise fusermount is such a child
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	before, err := devices()
	if err != nil {
		return nil, 0, err
	}
	protocol, err = fuse.NewServer(tree, dir, opt)
	if opt.DirectMountStrict && (errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENODEV)) {
		return nil, 0, fmt.Errorf("%s: %w", noFUSE, err)
	}
	if err != nil && !opt.DirectMountStrict {
		return nil, 0, refused(err)
	}
	if err != nil {
		return nil, 0, err
	}
	after, err := devices()
	if err != nil {
		return nil, 0, err
	}
	for _, fd := range after {
		if !slices.Contains(before, fd) {
			device = fd
			syscall.CloseOnExec(fd)
		}
	}
	return protocol, device, nil
}

// devices returns the descriptors of this process that are open on /dev/fuse.
func devices() (list []int, err error) {
	const dir = "/proc/self/fd"
	open, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range open {
		target, err := os.Readlink(filepath.Join(dir, entry.Name()))
		if err != nil || target != "/dev/fuse" {
			continue
		}
		if fd, err := strconv.Atoi(entry.Name()); err == nil {
			list = append(list, fd)
		}
	}
	return list, nil
}

// isCutOff reports whether the kernel has no use for answers any more: the mount is gone, or was
// aborted by umount -f. It reports that to each request as an interruption.
func isCutOff(device int) bool {
	poll := []unix.PollFd{{Fd: int32(device)}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&unix.POLLERR != 0
}

// readAhead lets the kernel read further ahead of a program than a READ is
// long, so that server and program work at the same time. Only root may; it
// makes nothing but speed.
func readAhead(dir string) {
	name := filepath.Join("/sys/class/bdi", mountedAt(dir).device, "read_ahead_kb")
	_ = os.WriteFile(name, []byte(strconv.Itoa(maxReadAhead>>10)), 0)
}

// prepare checks that dir can be mounted on and detaches a dead mount of ours.
func prepare(dir string, log *slog.Logger) error {
	err := probe(dir)
	if errors.Is(err, syscall.ENOTCONN) {
		if !isOurs(dir) {
			return fmt.Errorf("a filesystem whose server died is mounted there: %w", err)
		}
		log.Info("detaching a mount whose server died", "path", dir)
		if err := Unmount(dir, true); err != nil {
			return err
		}
		err = probe(dir)
	}
	switch p := (*os.PathError)(nil); {
	case errors.As(err, &p):
		return p.Err // of dir
	case err != nil:
		return err
	case isOurs(dir):
		return errors.New("recfs is mounted there already; recfs umount ends that")
	}
	return nil
}

// probe opens a directory: unlike stat that asks its server, in whose place the kernel may still
// answer when it has died.
func probe(dir string) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errors.Is(err, os.ErrPermission) {
		return nil // the user who mounts need not be able to list it
	}
	if err == nil {
		f.Close()
	}
	return err
}

// Wait returns when the mount has ended, whatever ended it.
func (s *Server) Wait() { <-s.done }

// Stats returns what the mount has done so far.
func (s *Server) Stats() Stats {
	stats := s.tree.counters.snapshot()
	stats.Nodes, stats.Contents = s.tree.table.len(), s.tree.contents.Len()
	return stats
}

// Unmount ends the mount. If it stays busy it is detached: it is gone from the
// directory at once, and programs that have it open go on reading for as long
// as the process lives: [Server.Detached] tells. Copies of the mount in other
// mount namespaces, such as containers, do not keep Unmount waiting.
func (s *Server) Unmount() error {
	for deadline := time.Now().Add(unmountGrace); ; time.Sleep(unmountRetry) {
		select {
		case <-s.done:
			return nil
		default:
		}
		err := unmount(s.dir, false)
		if err == nil {
			select {
			case <-s.done:
			case <-time.After(unmountGrace):
				s.log.Warn("the mount is still there in another mount namespace", "path", s.dir)
			}
			return nil
		}
		if time.Now().After(deadline) {
			s.log.Warn("detaching a mount that is in use", "path", s.dir, "err", err)
			s.detached.Store(true)
			return unmount(s.dir, true)
		}
	}
}

// Detached reports whether Unmount left a mount that was in use to the programs that use it.
// [Server.Wait] returns when they have closed what they had open.
func (s *Server) Detached() bool { return s.detached.Load() }

// words returns the mount options. The user who mounted gets everything that the source gives this
// process; where others are let in, the kernel checks their rights.
func (o *Options) words() []string {
	if o.AllowOther {
		return []string{"ro", "default_permissions"}
	}
	return []string{"ro"}
}

func (p ReadDirPlus) capabilities() uint64 {
	if p == ReadDirPlusAuto {
		return fuse.CAP_READDIRPLUS_AUTO
	}
	return 0
}

// A debugWriter passes what go-fuse has to say on to the log, as one message with different texts,
// because a log that is limited counts messages.
type debugWriter struct{ log *slog.Logger }

func (w debugWriter) Write(line []byte) (int, error) {
	w.log.Debug("go-fuse", "text", strings.TrimSpace(string(line)))
	return len(line), nil
}
