package nodes

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Namer is a Dir that names an entry without making it, for the listings
// of huge directories.
type Namer interface {
	Dir

	// AppendName appends the name of the entry that At returns to b and
	// returns it with the type of the entry.
	AppendName(ctx context.Context, b []byte, i int) ([]byte, fs.FileMode, error)
}

// AppendName appends the name of entry i of dir to b and returns it with the
// type of the entry, without making the entry if dir is a Namer.
func AppendName(ctx context.Context, dir Dir, b []byte, i int) ([]byte, fs.FileMode, error) {
	if n, ok := dir.(Namer); ok {
		return n.AppendName(ctx, b, i)
	}
	e, err := dir.At(ctx, i)
	return append(b, e.Name...), e.Type(), err
}

// A Paged is a Dir of which the first entries may be known before it is known how many there are.
type Paged interface {
	Dir

	// LenTo is Len that may return less once there are n entries.
	LenTo(ctx context.Context, n int) (int, error)
}

// LenTo returns how many entries a listing of dir shows: of a Paged with n or more as many as are
// known.
func LenTo(ctx context.Context, dir Dir, n int) (int, error) {
	if p, ok := dir.(Paged); ok {
		return p.LenTo(ctx, n)
	}
	return dir.Len(ctx)
}

// Indexes yields those of the entries of dir as they come to be known. It ends with an error, or
// where a listing of dir ends.
func Indexes(ctx context.Context, dir Dir) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i, n := 0, 0; ; i++ {
			var err error
			if i >= n {
				n, err = LenTo(ctx, dir, i+1)
			}
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(0, err)
				return
			}
			if i >= n || !yield(i, nil) {
				return
			}
		}
	}
}

type isListing struct{}

// Listing returns a context for the attributes of many entries of a directory: what learns the
// sizes of several at once does so there.
func Listing(ctx context.Context) context.Context { return context.WithValue(ctx, isListing{}, true) }

// IsListing reports whether ctx is one of Listing.
func IsListing(ctx context.Context) bool { return ctx.Value(isListing{}) != nil }

// Type returns the type of an entry: fs.ModeDir, fs.ModeSymlink, or 0 for a
// file.
func (e Entry) Type() fs.FileMode {
	switch {
	case e.Dir != nil:
		return fs.ModeDir
	case e.File != nil:
		return 0
	}
	return fs.ModeSymlink
}

// A Resolver is a Dir that stands for another one, which it finds at each
// operation: a Lazy one, or one whose value must stay the same while that of
// the other does not.
type Resolver interface {
	Dir
	Resolve(ctx context.Context) (Dir, error)
}

// Resolve returns the directory that stands behind a Resolver, for more than
// one operation. Other directories are returned as they are.
func Resolve(ctx context.Context, dir Dir) (Dir, error) {
	for {
		r, ok := dir.(Resolver)
		if !ok {
			return dir, nil
		}
		var err error
		if dir, err = r.Resolve(ctx); err != nil {
			return nil, err
		}
	}
}

// maxName is the length in bytes to which SafeName cuts.
const maxName = 64

// SafeName makes a name from inside a recording safe as part of a file name
// (tree/README, "Names from inside a recording"): every character that is
// not a Unicode letter, mark, number, punctuation or symbol, each of
// / \ : * ? " < > |, and every byte that is not UTF-8 becomes _, and the
// result is cut to 64 bytes at a character.
func SafeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		i += n
		if r == utf8.RuneError && n == 1 || !safeRune(r) {
			r = '_'
		}
		if b.Len()+utf8.RuneLen(r) > maxName {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func safeRune(r rune) bool {
	if strings.ContainsRune(`/\:*?"<>|`, r) {
		return false
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}
