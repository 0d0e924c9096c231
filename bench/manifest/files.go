//go:build unix

package main

import (
	"crypto/sha256"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
)

// copyTree copies files of up to limit bytes, and the directories that hold them.
func copyTree(source, target string, limit int64) error {
	return filepath.WalkDir(source, func(name string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return create(filepath.Join(target, rel), func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
	})
}

// create makes a file, and its directory where that is missing, of what write writes.
func create(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// sumFile returns the SHA-256 of a file's content.
func sumFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
