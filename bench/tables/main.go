//go:build linux

// Command tables measures the tables of recordings: the layout of one of 200 million rows, questions
// that DuckDB answers from a mount and from the same table as a file on disk, the same questions to
// lines/ with DuckDB and jq, and ls over the tables of many recordings.
//
//	go run ./bench/tables -python VENV/bin/python [-recfs /tmp/recfs] [-size 300] [-recordings 20000] [-dir DIR]
//
// The recording is one of teehistorian with the records of a sample many times: 3,000 MB have 200
// million positions. The Python has to have DuckDB. Each question gets a mount that has just begun,
// with the index on disk and in memory, and nothing decoded. Times are the best of all rounds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"recfs/bench/internal/harness"
)

var (
	python     = flag.String("python", "python3", "a Python that has DuckDB")
	size       = flag.Int64("size", 300, "size of the recording in MB")
	recordings = flag.Int("recordings", 20000, "how many recordings to list the tables of; 0: none")
	rounds     = flag.Int("rounds", 3, "how often to ask each question; the best counts")
	sample     = flag.String("sample", "testdata/archive/teehistorian/busy-20.1.teehistorian.xz", "what the recording is made of")
	small      = flag.String("small", "testdata/archive/teehistorian/reload-20.1.teehistorian", "what the many recordings are copies of")
)

func main() { harness.Main("tables", run) }

// layout runs the benchmark of the package.
func layout(ctx context.Context) error {
	results, err := harness.Benchmarks(ctx, nil, "./formats/internal/parquet", "^BenchmarkLayout$", "-benchtime", "20x")
	if err != nil {
		return err
	}
	for _, r := range results {
		fmt.Printf("layout of 200,000,000 rows: %.1f ms (aim: 30), %.1f MiB (aim: 16), footer %.2f MiB (aim: 1)\n",
			r.Values["ns/op"]/1e6, r.Values["B/layout"]/(1<<20), r.Values["B/footer"]/(1<<20))
	}
	return nil
}

func run(ctx context.Context, dir, recfs string) error {
	if err := layout(ctx); err != nil {
		return err
	}
	program := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache")}
	return errors.Join(askAll(ctx, program, dir), list(ctx, program, dir))
}

// makeLong makes the long recording in source.
func makeLong(source string) error {
	if err := os.Mkdir(source, 0o777); err != nil {
		return err
	}
	records, err := harness.ReadXZ(*sample)
	if err != nil {
		return err
	}
	n, err := harness.WriteLong(filepath.Join(source, long), records, *size*1e6)
	fmt.Printf("recording of %d MB\n", n/1e6)
	return err
}

// copyFile copies a file.
func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
