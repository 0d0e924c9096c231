package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// writes is how often the rows of a file are written.
const writes = 10

// write prints how many nanoseconds of processor time it takes to write the rows of files from memory to files, under zstd.
func write(names []string) error {
	var all time.Duration
	for _, name := range names {
		took, err := writeOne(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all += took
	}
	_, err := fmt.Println(int64(all))
	return err
}

func writeOne(name string) (time.Duration, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return 0, err
	}
	rows, err := readRows(file)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(name), "again")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	before := processorTime()
	for i := range writes {
		if err := writeRows(filepath.Join(dir, strconv.Itoa(i)), file.Schema(), rows); err != nil {
			return 0, err
		}
	}
	return (processorTime() - before) / writes, nil
}

func writeRows(name string, schema *parquet.Schema, rows []parquet.Row) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	w := parquet.NewWriter(out, schema, parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}))
	_, err = w.WriteRows(rows)
	return errors.Join(err, w.Close(), out.Close())
}

func readRows(file *parquet.File) (all []parquet.Row, err error) {
	buf := make([]parquet.Row, 100)
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		for err == nil {
			var n int
			n, err = rows.ReadRows(buf)
			for _, r := range buf[:n] {
				all = append(all, r.Clone())
			}
		}
		rows.Close()
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		err = nil
	}
	return all, nil
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
