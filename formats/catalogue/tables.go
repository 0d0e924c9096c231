package catalogue

import (
	"slices"
	"strings"

	"recfs/formats/internal/parquet"
	"recfs/formats/recordings"
)

// tablesName is the directory at the root of an archive that shows the tables of all recordings by kind
// (docs/tree/tables.md), and that of a recording with its tables. The first one is not listed.
const tablesName = "tables"

// tableSuffix is the end of the names of tables.
const tableSuffix = ".parquet"

// tablesOf returns the names of the tables that a recording has, sorted.
func tablesOf(o *recordings.Opened) (names []string) {
	for i := range o.Tables {
		names = append(names, o.Tables[i].Name)
	}
	slices.Sort(names)
	return names
}

// blankLines says of each of some lines that what it is of has no tables, or no known runs.
func blankLines(lines string) string { return strings.Repeat("\n", strings.Count(lines, "\n")) }

// soundTables reports whether saved names of tables are those of so many lines.
func soundTables(tables, lines string) bool {
	if strings.Count(tables, "\n") != strings.Count(lines, "\n") || tables != "" && !strings.HasSuffix(tables, "\n") {
		return false
	}
	return !strings.ContainsFunc(tables, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' && c != ' ' && c != '\n' })
}

// tablesPath returns where below tables/FORMAT/TABLE a recording is found: its path, in which what engines
// take for something else is % and two hex digits, and tableSuffix.
func tablesPath(at string) string {
	parts := strings.Split(at, "/")
	for i, name := range parts {
		parts[i] = parquet.EscapeName(name)
	}
	return strings.Join(parts, "/") + tableSuffix
}
