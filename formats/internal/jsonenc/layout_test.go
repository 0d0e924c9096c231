package jsonenc_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"recfs/formats/internal/jsonenc"
)

func TestJSONLayout(t *testing.T) {
	v := struct {
		A     string   `json:"a"`
		Plain []int    `json:"plain"`
		None  []int    `json:"none"`
		Empty struct{} `json:"empty"`
		Rows  [][]int  `json:"rows"`
		Deep  struct {
			Objects []map[string]any `json:"objects"`
		} `json:"deep"`
	}{A: "<&> \"[{,", Plain: []int{1, 2}, Rows: [][]int{{1, 2}, {}}}
	v.Deep.Objects = []map[string]any{{"k": []any{1, "x, y"}}, {}}
	want := `{
  "a": "<&> \"[{,",
  "plain": [1, 2],
  "none": null,
  "empty": {},
  "rows": [
    [1,2],
    []
  ],
  "deep": {
    "objects": [
      {"k":[1,"x, y"]},
      {}
    ]
  }
}
`
	got, err := jsonenc.MarshalIndented(v)
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

func FuzzAppendIndented(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `[1,[2,{"a":[]}]]`, `{"a":{"b":[{"c":"\"\\"}]}}`, `"x"`, `-1e5`, `[{},1,[]]`, ` [ 1 , { "a" : 2 } ] `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got := jsonenc.AppendIndented(nil, src) // must not panic or hang, valid or not
		if !json.Valid(src) {
			return
		}
		var want, back bytes.Buffer
		if err := json.Compact(&want, src); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&back, got); err != nil || !bytes.Equal(want.Bytes(), back.Bytes()) {
			t.Errorf("%s became %s: %v", src, got, err)
		}
	})
}
