package fs

import (
	"fmt"
	iofs "io/fs"
	"log/slog"
	"strings"
	"time"
)

// fsName is the type under which mounts are known: fuse.recfs.
const fsName = "recfs"

// Options of a mount. The zero value works.
type Options struct {
	Log    *slog.Logger // nil: nothing is logged
	FsName string       // what is mounted, shown by df and mount; empty: recfs
	Time   time.Time    // of the root; zero: now

	UID, GID   *uint32       // owner of everything; nil: who mounts
	Umask      iofs.FileMode // permissions taken from 0555 and 0444
	AllowOther bool          // let other users in

	// Space returns the bytes that statfs reports, those of the place where
	// the recordings are; nil: there are none.
	Space func() (total, free uint64)

	ReadDirPlus ReadDirPlus
	Options     []string // further words of -o, as in fstab
	Debug       bool     // log every request at level debug
}

// ReadDirPlus says when listings of an immutable directory come with the
// attributes of the entries. It spares a look-up per entry to those who want
// them and costs 1 kB of kernel memory per entry, wanted or not.
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
	return fmt.Errorf("%q is not auto, on or off", s)
}

func (p ReadDirPlus) String() string { return [...]string{"auto", "on", "off"}[p] }

// Type names the values in a usage message.
func (p ReadDirPlus) Type() string { return "auto|on|off" }

func (o *Options) logger() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

func (o *Options) time() time.Time {
	if o.Time.IsZero() {
		return time.Now()
	}
	return o.Time
}

// applyWords takes o.Options apart into fields of o, words for the kernel,
// which it returns, and words that are for mount(8) or fstab alone. Whatever
// else there is would make the kernel refuse the mount, so it is an error
// that names it.
func (o *Options) applyWords() ([]string, error) {
	kernel := []string{"ro", "default_permissions"}
	for _, word := range o.Options {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case word == "allow_other":
			o.AllowOther = true
		case key == "fsname":
			o.FsName = value
		case kernelWords[word]:
			kernel = append(kernel, word)
		case !fstabWords[word] && !strings.HasPrefix(word, "x-"):
			return nil, fmt.Errorf("unknown mount option %q", word)
		}
	}
	return kernel, nil
}

var kernelWords = words("dev nodev suid nosuid exec noexec")

var fstabWords = words("ro rw defaults default_permissions auto noauto user nouser users group nogroup owner " +
	"_netdev nofail atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime lazytime nolazytime " +
	"async sync dirsync")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
