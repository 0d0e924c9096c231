package main

import "testing"

func TestVersionFromArchive(t *testing.T) {
	for _, c := range []struct{ filled, version, commit string }{
		{"$Format:%(describe:tags) %cs %h$\n", "(devel)", ""},
		{"v1.2.0 2026-11-22 d568b10\n", "v1.2.0", "d568b10"},
		{"v1.2.0-5-gd568b10 2026-11-22 d568b10\n", "v1.2.0-5-gd568b10", "d568b10"},
		{" 2026-11-22 d568b10\n", "0.0.0+20261122.d568b10", "d568b10"},
	} {
		version, commit := fromArchive("(devel)", c.filled)
		if version != c.version || commit != c.commit {
			t.Errorf("%q is version %s of commit %s, want %s of %s", c.filled, version, commit, c.version, c.commit)
		}
	}
}
