// Package packing packs samples as people do: compressed one by one, or together in a container.
package packing

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Time is the time of everything that is packed.
var Time = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)

// A Compression is one around a recording or a tar, by its extension.
type Compression struct {
	Ext  string
	Pack func(ctx context.Context, w io.Writer, r io.Reader) error
}

// Compressions are those that recfs looks into. Nothing in go.mod writes xz or bzip2, so the tools
// do.
var Compressions = []Compression{
	{".gz", packGzip}, {".xz", packWith("xz", "-T1")}, Zstd, {".bz2", packWith("bzip2")},
}

// Zstd is the one that needs no tool. It has one worker, so that the bytes do not depend on their
// number.
var Zstd = Compression{".zst", func(_ context.Context, w io.Writer, r io.Reader) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	_, err = io.Copy(z, r)
	return cmp.Or(err, z.Close())
}}

// Plain is no compression.
var Plain = Compression{"", func(_ context.Context, w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}}

// Of returns the compression of an extension, [Plain] of "".
func Of(ext string) (Compression, error) {
	for _, c := range append([]Compression{Plain}, Compressions...) {
		if c.Ext == ext {
			return c, nil
		}
	}
	return Plain, fmt.Errorf("%q is the extension of no compression", ext)
}

func packGzip(_ context.Context, w io.Writer, r io.Reader) error {
	z := gzip.NewWriter(w)
	_, err := io.Copy(z, r)
	return cmp.Or(err, z.Close())
}

func packWith(tool string, flags ...string) func(context.Context, io.Writer, io.Reader) error {
	return func(ctx context.Context, w io.Writer, r io.Reader) error {
		cmd := exec.CommandContext(ctx, tool, append(flags, "-c")...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = r, w, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
		return nil
	}
}

// TarIn writes the tree below dir as a tar that c compresses.
func TarIn(ctx context.Context, w io.Writer, dir string, c Compression) error {
	r, to := io.Pipe()
	go func() { to.CloseWithError(Tar(to, dir)) }()
	return c.Pack(ctx, w, r)
}

// Tar writes the tree below dir.
func Tar(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	err := members(dir, func(name string, mode iofs.FileMode, content []byte) error {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: Time, Typeflag: tar.TypeReg}
		switch {
		case mode.IsDir():
			h.Name, h.Mode, h.Typeflag = name+"/", 0o755, tar.TypeDir
		case mode&iofs.ModeSymlink != 0:
			h.Linkname, h.Typeflag, h.Size, content = string(content), tar.TypeSymlink, 0, nil
		}
		err := t.WriteHeader(h)
		if err == nil {
			_, err = t.Write(content)
		}
		return err
	})
	return cmp.Or(err, t.Close())
}

// Zip writes the tree below dir, its files by the method. A link is a file that holds its
// target.
func Zip(w io.Writer, dir string, method uint16) error {
	z := zip.NewWriter(w)
	err := members(dir, func(name string, mode iofs.FileMode, content []byte) error {
		h := &zip.FileHeader{Name: name, Method: method, Modified: Time}
		h.SetMode(mode)
		if mode.IsDir() {
			h.Name, h.Method = name+"/", zip.Store
		}
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write(content)
		}
		return err
	})
	return cmp.Or(err, z.Close())
}

// members calls visit for everything below dir, in the order of a walk: with the target of a link
// or the content of a file.
func members(dir string, visit func(name string, mode iofs.FileMode, content []byte) error) error {
	return filepath.WalkDir(dir, func(file string, d iofs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var target string
		var content []byte
		switch {
		case info.Mode()&iofs.ModeSymlink != 0:
			target, err = os.Readlink(file)
			content = []byte(target)
		case info.Mode().IsRegular():
			content, err = os.ReadFile(file)
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		return cmp.Or(err, visit(filepath.ToSlash(name), info.Mode(), content))
	})
}
