package parquet

import (
	"fmt"
	"strings"
)

// A Kind is a table of all recordings of a format.
type Kind struct {
	Format, Table string
	Single        bool // there is one file for all recordings
}

// Views returns views.sql, which names what is below prefix in DuckDB: so many recordings, some of
// them without an index, and tables in their order. by is the key of the folders that parts of
// tables lie in, "" if there are none.
func Views(prefix string, recordings, unindexed int, kinds []Kind, by string) []byte {
	prefix = quote.Replace(prefix)
	s := "s"
	if recordings == 1 {
		s = ""
	}
	b := fmt.Appendf(nil, "-- recfs: %d recording%s, %d of them without an index\n", recordings, s, unindexed)
	b = fmt.Appendf(b, "create or replace view recordings as from read_parquet('%s/recordings.parquet');\n", prefix)
	for i, k := range kinds {
		if i == 0 || kinds[i-1].Format != k.Format {
			b = fmt.Appendf(b, "create schema if not exists %s;\n", k.Format)
		}
		files, hive := "/**/*.parquet", "hive_partitioning = false"
		switch {
		case k.Single:
			files = Extension
		case by != "":
			hive = "hive_partitioning = true, hive_types = {" + by + ": varchar}"
		}
		b = fmt.Appendf(b, "create or replace view %s.%s as from read_parquet('%s/%[1]s/%[2]s%[4]s', %[5]s);\n", k.Format, k.Table, prefix, files, hive)
	}
	return b
}

// quote writes a path as a glob in a string of SQL.
var quote = strings.NewReplacer("'", "''", "*", "[*]", "?", "[?]", "[", "[[]")
