package main

import "testing"

func TestClosest(t *testing.T) {
	known := []string{"find", "info", "index", "players.json", "player", "ticks.hex", ".recfs"}
	for word, want := range map[string]string{
		"fnid": "find", "fnd": "find", "indx": "index", "player.json": "players.json", "playesr.json": "players.json",
		"frobnicate": "", "": "", "x": "", "find": "", "idnex": "index", "Ünfo": "info", "ticks": "ticks.hex", "tick": "", "ticks.": "",
	} {
		if got := closest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"aaaa", "a", 3}, {"über", "uber", 1}} {
		if got := slips(c.a, c.b, 9); got != c.n {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.n)
		}
		if got := slips(c.b, c.a, 9); got != c.n {
			t.Errorf("%q and %q: %d, want %d", c.b, c.a, got, c.n)
		}
	}
}
