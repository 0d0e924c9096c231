package main

import "testing"

func TestWrap(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "\n"},
		{"one two\nthree  four", "one two\nthree four\n"},
		{"a_word_that_is_too_long b c", "a_word_that_is_too_long\nb c\n"},
		{"über ö ü ä ß x", "über ö ü ä\nß x\n"},
	} {
		if got := wrap(c.in, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}
