package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"recfs/nodes"
)

// didYouMean is the end of a message about a word that is not known: the most similar one of those
// that are, if one is similar enough for a slip of the finger.
func didYouMean(word string, known []string) string {
	if found := closest(word, known); found != "" {
		return fmt.Sprintf("; did you mean %s?", found)
	}
	return ""
}

// closest returns the word that the fewest slips make of word, or else one that only has an
// extension more, "" if there is neither.
func closest(word string, known []string) (best string) {
	fewest := (len([]rune(word)) + 2) / 3
	for _, k := range known {
		if n := slips(word, k, fewest); n <= fewest && k != word {
			best, fewest = k, n-1
		}
	}
	if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, word+".") }); best == "" && word != "" && i >= 0 {
		return known[i] // ticks.hex for ticks, where no schema fits
	}
	return best
}

// slips counts the characters that were left out, put in, exchanged or swapped with the next one
// between two words (the optimal string alignment distance). More than most it does not count.
func slips(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if max(len(x), len(y))-min(len(x), len(y)) > most {
		return most + 1
	}
	var before, above []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, above, row = above, row, make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(y)]
}

// maxCompared is how many names of a directory are compared with one that is not there.
const maxCompared = 10000

// suggestName is the end of a message about a path below root that is not there. Another number or
// time is no slip of the finger.
func suggestName(ctx context.Context, root nodes.Entry, inside string) string {
	here := root
	for part := range strings.SplitSeq(inside, "/") {
		next, err := nodes.Follow(ctx, here.Dir, part)
		switch {
		case err != nil && (isPattern(part) || strings.HasPrefix(part, "@")):
			return ""
		case err != nil:
			names := slices.DeleteFunc(namesIn(ctx, here), func(name string) bool { return unnumbered(name) == unnumbered(part) })
			return didYouMean(part, names)
		case next.Dir == nil:
			return ""
		}
		here = next
	}
	return ""
}

// unnumbered returns a name without its digits.
func unnumbered(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}

// namesIn returns the first names in a directory, of those that can be listed.
func namesIn(ctx context.Context, dir nodes.Entry) (names []string) {
	for child, err := range nodes.Entries(ctx, dir) {
		if len(names) == maxCompared || err != nil && child.Name == "" {
			break
		}
		names = append(names, child.Name)
	}
	return names
}
