package main

import "strings"

// shellWords returns the words of a line as a shell divides and unquotes it; the last one, which is
// empty after a blank, need not be complete.
func shellWords(line string) []string {
	words := []string{""}
	last := &words[0]
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(line) && (quote == 0 || strings.IndexByte("$`\"\\", line[i+1]) >= 0):
			i++
			*last += line[i : i+1]
		case quote == 0 && (c == ' ' || c == '\t'):
			if *last != "" {
				words = append(words, "")
				last = &words[len(words)-1]
			}
		default:
			*last += line[i : i+1]
		}
	}
	return words
}
