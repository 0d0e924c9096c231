package jsonenc

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestExplain(t *testing.T) {
	for text, want := range map[string]string{
		`{"events": [{"id": 1`:        "it ends too early",
		`{"events": [{"id": 1,}]}`:    "byte 22 is not what JSON has there",
		`{"events": [{"id": "one"}]}`: `byte 24: "Events.ID" cannot be a value of type string`,
		`[]`:                          "byte 1: it cannot be a value of type array",
		``:                            "it ends too early",
	} {
		var v struct{ Events []struct{ ID int } }
		err := json.Unmarshal([]byte(text), &v)
		got := Explain(err)
		if got == nil || got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	if err := Explain(nil); err != nil {
		t.Error(err)
	}
}
