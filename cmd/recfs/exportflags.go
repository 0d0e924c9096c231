package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"recfs/formats/export"
)

var exportCommand = command{
	name:    "export",
	args:    "tables SOURCE DESTINATION",
	summary: "Write the tables of all recordings as compressed Parquet",
	about: `
SOURCE is an archive, a part of one, or a recording. Each table of each recording becomes a file,
DESTINATION/FORMAT/TABLE/PATH/OF/RECORDING.parquet, as below tables/ of a mount; with --merge those of many
recordings become a part, DESTINATION/FORMAT/TABLE/part-000000.parquet, in folders by month or map with --by.
Then come recordings.parquet, views.sql, which names all of it in DuckDB, and of some tables FORMAT/TABLE.parquet
with the rows of all recordings. A DESTINATION is for one SOURCE and for one of these layouts, which
DESTINATION/_recfs.json notes.

Another run writes only what is new or changed: of parts those with such recordings, in which all else is copied
as it lies there. It removes nothing but what one that was killed left unfinished; with --prune it removes the
rows of recordings that are gone as well, if all of SOURCE could be read, and says what it leaves and why. For
another SOURCE than the one noted, or if more than half of all tables would go, that takes --prune=force. A file
has its name once it is whole.

A recording that does not open, a container that is damaged, or a table that cannot be written is reported, and
the rest goes on; the exit code then is 1. It is 2 if there is no recording, or none has a table asked for. With --shard 1/8 to 8/8, eight machines write an eighth each, about.`,
	run: runExport,
}

func runExport(flags *pflag.FlagSet) runFunc {
	x := &exporter{shard: shardFlag{export.Shard{I: 1, N: 1}}, partSize: 128 * mib}
	flags.StringArrayVar(&x.tables, "table", nil, "only the tables of this `NAME` (may be repeated)")
	known := formatList()
	flags.StringArrayVar(&x.formats, "format", nil, "only recordings of the format `NAME`: "+strings.Join(known, ", ")+" (may be repeated)")
	offer(flags, "format", known...)
	flags.Var(&x.shard, "shard", "only part I of N, by the hash of their paths")
	flags.BoolVar(&x.form.Merge, "merge", false, "write parts with the rows of many recordings, in place of a file for each")
	flags.StringVar(&x.form.By, "by", export.ByNone, "with --merge: folders of parts, by `none|month|map`")
	offer(flags, "by", export.ByNone, export.ByMonth, export.ByMap)
	flags.Var(&x.partSize, "part-size", "with --merge: a part ends when it has this much, 1MiB to 4GiB")
	flags.StringVar(&x.viewsAt, "views-at", "", "write `PREFIX` into views.sql in place of DESTINATION, such as s3://bucket/lake")
	flags.BoolFunc("prune", "remove tables of recordings that are gone from SOURCE; with =force also if that is most of them, or SOURCE is another one", x.setPrune)
	offer(flags, "prune", pruneForce)
	flags.Bool("json", false, "print a JSON object for each table, and for each container that is damaged")
	registerJobs(flags)
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		if args[0] != "tables" {
			return usagef("export: it is only tables that can be exported, not %q", args[0])
		}
		for _, f := range x.formats {
			if !slices.Contains(known, f) {
				return usagef("export: there is no format %q: it is one of %s", f, strings.Join(known, ", "))
			}
		}
		if x.prune != "" && x.shard.N > 1 {
			return usagef("export: --prune does not go with --shard: run it once more without, after all shards")
		}
		if err := x.checkForm(flags); err != nil {
			return err
		}
		x.env = e
		e.startMeter("exporting")
		e.far = func() string { return x.meter.far() + " exported; the same command goes on from there" }
		return x.run(ctx, a, cleanName(args[1]), args[2])
	})
}

// checkForm checks the flags of parts.
func (x *exporter) checkForm(flags *pflag.FlagSet) error {
	for _, name := range []string{"by", "part-size"} {
		if flags.Changed(name) && !x.form.Merge {
			return usagef("--%s needs --merge", name)
		}
	}
	switch {
	case !slices.Contains([]string{export.ByNone, export.ByMonth, export.ByMap}, x.form.By):
		return usagef("--by is none, month or map, not %q", x.form.By)
	case x.partSize < mib || x.partSize > 4*gib:
		return usagef("--part-size is 1MiB to 4GiB, not %s", x.partSize)
	case !x.form.Merge:
		x.form.By = ""
	}
	return nil
}
