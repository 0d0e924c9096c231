//go:build unix

package main

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
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// standardTime is the time of everything that is packed.
var standardTime = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)

// nestable is the size of the largest samples that are packed in nested containers.
const nestable = 12 << 10

// A compression is one around a recording or a tar, by its extension.
type compression struct {
	ext  string
	pack func(ctx context.Context, w io.Writer, r io.Reader) error
}

// Nothing in go.mod writes xz or bzip2, so the tools do.
var compressions = []compression{
	{".gz", packGzip}, {".xz", packWith("xz", "-T1")}, {".zst", packZstd}, {".bz2", packWith("bzip2")},
}

// extensions are those of recordings, which are packed each by itself.
var extensions = []string{".teehistorian", ".hcrp", ".butter", ".milk", ".nhgame", ".map", ".echoreplay"}

func packGzip(_ context.Context, w io.Writer, r io.Reader) error {
	z := gzip.NewWriter(w)
	_, err := io.Copy(z, r)
	return cmp.Or(err, z.Close())
}

// packZstd packs with one worker, so that the bytes do not depend on their number.
func packZstd(_ context.Context, w io.Writer, r io.Reader) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	_, err = io.Copy(z, r)
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

// packFile writes source packed to target.
func (c compression) packFile(ctx context.Context, source, target string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	return create(target, func(w io.Writer) error { return c.pack(ctx, w, in) })
}

// packEach packs every recording below plain/name by itself, in each compression, to root/EXT/name.
func packEach(ctx context.Context, plain, name, root string) error {
	return filepath.WalkDir(filepath.Join(plain, name), func(file string, d iofs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains(extensions, filepath.Ext(file)) {
			return err
		}
		rel, err := filepath.Rel(plain, file)
		for _, c := range compressions {
			err = cmp.Or(err, c.packFile(ctx, file, filepath.Join(root, c.ext[1:], rel)+c.ext))
		}
		return err
	})
}

// packAll packs the directory into every kind of container, at target and the extension.
func packAll(ctx context.Context, dir, target string) error {
	err := cmp.Or(
		create(target+".tar", func(w io.Writer) error { return packTar(w, dir) }),
		create(target+"-stored.zip", func(w io.Writer) error { return packZip(w, dir, zip.Store) }),
		create(target+".zip", func(w io.Writer) error { return packZip(w, dir, zip.Deflate) }),
	)
	for _, c := range compressions {
		err = cmp.Or(err, c.packFile(ctx, target+".tar", target+".tar"+c.ext))
	}
	return err
}

// packNested packs the small files of dir into a container of each kind, these into a second, a
// third and at last into target.
func packNested(ctx context.Context, dir, target, work string) error {
	inner := filepath.Join(work, "1")
	if err := copyTree(dir, inner, nestable); err != nil {
		return err
	}
	third := filepath.Join(work, "3")
	return cmp.Or(
		packAll(ctx, inner, filepath.Join(work, "2", "inner")),
		create(filepath.Join(third, "stored.zip"), func(w io.Writer) error { return packZip(w, filepath.Join(work, "2"), zip.Store) }),
		packNestedOnce(ctx, third, filepath.Join(work, "4")),
		create(target, func(w io.Writer) error { return packTar(w, filepath.Join(work, "4")) }),
		os.RemoveAll(work),
	)
}

// packNestedOnce packs dir as a compressed tar into the directory target.
func packNestedOnce(ctx context.Context, dir, target string) error {
	plain := filepath.Join(target, "third.tar")
	return cmp.Or(
		create(plain, func(w io.Writer) error { return packTar(w, dir) }),
		compression{".zst", packZstd}.packFile(ctx, plain, plain+".zst"),
		os.Remove(plain),
	)
}

// packTar writes the tree below dir.
func packTar(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	err := members(dir, func(name string, info iofs.FileInfo, target string, content []byte) error {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: standardTime, Typeflag: tar.TypeReg}
		switch {
		case info.IsDir():
			h.Name, h.Mode, h.Typeflag = name+"/", 0o755, tar.TypeDir
		case target != "":
			h.Linkname, h.Typeflag = target, tar.TypeSymlink
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	})
	return cmp.Or(err, t.Close())
}

// packZip writes the tree below dir, its files by the method. A link is a file that holds its
// target.
func packZip(w io.Writer, dir string, method uint16) error {
	z := zip.NewWriter(w)
	err := members(dir, func(name string, info iofs.FileInfo, target string, content []byte) error {
		h := &zip.FileHeader{Name: name, Method: method, Modified: standardTime}
		h.SetMode(info.Mode())
		switch {
		case info.IsDir():
			h.Name, h.Method = name+"/", zip.Store
		case target != "":
			content = []byte(target)
		}
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return err
	})
	return cmp.Or(err, z.Close())
}

// members calls visit for everything below dir, in the order of a walk: with the target of a link
// or the content of a file.
func members(dir string, visit func(name string, info iofs.FileInfo, target string, content []byte) error) error {
	return filepath.WalkDir(dir, func(file string, d iofs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
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
		case info.Mode().IsRegular():
			content, err = os.ReadFile(file)
		}
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name), info, target, content)
	})
}
