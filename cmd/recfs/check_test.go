package main

import (
	"bytes"
	"context"
	"testing"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

// A recording that is replaced while check reads it is not said to be damaged.
func TestCheckOfAReplacedSource(t *testing.T) {
	changed := func(context.Context) ([]byte, error) { return []byte("new"), nil }
	document := nodes.Bytes([]byte("{\"problems\":[]}\n"))
	dir := nodes.List(
		nodes.Entry{Name: "a.csv", File: nodes.Sized(13, changed)},
		nodes.Entry{Name: "b.csv", File: nodes.Func(func(context.Context) ([]byte, error) {
			return nil, &formats.Error{Format: "hcrp", Offset: 7, Err: nodes.SizeError(5, 0)}
		})},
		nodes.Entry{Name: "header.json", File: document},
		nodes.Entry{Name: "index.json", File: document},
	)
	for _, test := range []struct {
		found
		want string
	}{
		{
			found{name: "x.hcrp", entry: nodes.Entry{Dir: dir}, Description: archives.Description{Format: "hcrp"}, isRecording: true},
			"x.hcrp: hcrp: a.csv: changed while it was read, and so 2 files\n",
		},
		{found{name: "notes", entry: nodes.Entry{File: nodes.Sized(13, changed)}}, "notes: changed while it was read\n"},
	} {
		var out bytes.Buffer
		c := &checker{env: &env{stdout: &out, meter: newMeter(&out, "checking")}}
		problems := c.check(t.Context(), test.found)
		out.Reset()
		c.report(t.Context(), problems)
		if got := out.String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
