package fs

import (
	"cmp"
	"errors"
	iofs "io/fs"
	"log/slog"
	"time"

	"recfs/cache"
)

// fsName is the type under which mounts are known: fuse.recfs.
const fsName = "recfs"

// Options of a mount. The zero value works.
type Options struct {
	Log    *slog.Logger // nil: nothing is logged
	FsName string       // what is mounted, shown by df and mount; empty: recfs
	Time   time.Time    // of the root; zero: now

	UID, GID   *uint32       // owner and group of everything; nil: those of each entry, or of the user who mounts
	Umask      iofs.FileMode // permissions taken from everything
	AllowOther bool          // let other users in, as far as owner, group and mode allow

	// EntryTimeout is for how long a change of a source may go unnoticed. 0:
	// each time a path leads through a recording it is looked at again.
	EntryTimeout time.Duration

	// Space returns the bytes that statfs reports, those of the place where
	// the recordings are; nil: there are none.
	Space func() (total, free uint64)

	// Cache has the account in which open contents count; nil: they count nowhere.
	Cache *cache.Cache

	ReadDirPlus ReadDirPlus
}

// ReadDirPlus says when listings of an immutable directory come with the attributes of the entries.
// It spares a look-up per entry to programs that want them and costs 1 kB of kernel memory per
// entry, wanted or not.
type ReadDirPlus int

const (
	ReadDirPlusAuto ReadDirPlus = iota // once a program asks for some of them
	ReadDirPlusOn
	ReadDirPlusOff
)

// Set implements the flag value: auto, on or off.
func (p *ReadDirPlus) Set(s string) error {
	for _, mode := range []ReadDirPlus{ReadDirPlusAuto, ReadDirPlusOn, ReadDirPlusOff} {
		if s == mode.String() {
			*p = mode
			return nil
		}
	}
	return errors.New("not auto, on or off")
}

func (p ReadDirPlus) String() string { return [...]string{"auto", "on", "off"}[p] }

// Type names the values in a usage message.
func (p ReadDirPlus) Type() string { return "auto|on|off" }

func (o *Options) logger() *slog.Logger { return cmp.Or(o.Log, slog.New(slog.DiscardHandler)) }
