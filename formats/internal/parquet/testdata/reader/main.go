// Command reader writes the rows of Parquet files as reader.py does, read by parquet-go. It is a module of
// its own, so that recfs does without that library.
//
//	go run . FILE...
//	go run . -write FILE...   prints how long it takes parquet-go to write the rows of files
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"
)

func main() {
	if os.Args[1] == "-write" {
		if err := write(os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	out := bufio.NewWriter(os.Stdout)
	for _, name := range os.Args[1:] {
		if err := show(out, name); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func show(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	all := [][]any{}
	for _, group := range file.RowGroups() {
		if all, err = appendRows(all, group); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(all)
}

func appendRows(all [][]any, group parquet.RowGroup) ([][]any, error) {
	rows := group.Rows()
	defer rows.Close()
	buf := make([]parquet.Row, 100)
	for {
		n, err := rows.ReadRows(buf)
		for _, r := range buf[:n] {
			all = append(all, values(r))
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// values returns the values of a row, lists made up of their items.
func values(r parquet.Row) []any {
	var list []any
	r.Range(func(_ int, column []parquet.Value) bool {
		first := column[0]
		isList := len(column) > 1 || first.DefinitionLevel() > 1 || first.IsNull() && first.DefinitionLevel() == 1
		if !isList {
			list = append(list, value(first))
			return true
		}
		items := []any{}
		for _, v := range column {
			if v.DefinitionLevel() >= 2 {
				items = append(items, value(v))
			}
		}
		list = append(list, items)
		return true
	})
	return list
}

func value(v parquet.Value) any {
	if v.IsNull() {
		return nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return v.Int32()
	case parquet.Int64:
		return v.Int64()
	case parquet.Float:
		return bits(float64(v.Float()))
	case parquet.Double:
		return bits(v.Double())
	}
	return string(v.ByteArray())
}

func bits(x float64) string { return fmt.Sprintf("%016x", math.Float64bits(x)) }
