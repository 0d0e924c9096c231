package main

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/export"
	"recfs/nodes"
)

// merge writes parts with the rows of many recordings.
func (x *exporter) merge(ctx context.Context, list iter.Seq[outcome]) (written string, err error) {
	known := x.known(ctx)
	x.work(ctx, list, func(done *outcome) { x.load(ctx, done, known) })
	m := &export.Merge{
		Exporter: x.to, By: x.form.By, PartSize: int64(x.partSize), Shard: x.shard.Shard,
		Timeless: func(format string) bool { return x.a.formatNamed(format).Timeless },
		Tell:     x.tellPart,
		Alien: func(file string, err error) {
			x.fail(file, reason(file, err))
		},
		Fail: func(m *export.Member, table string, err error) {
			x.tell(ctx, outcome{found: found{name: x.nameOf(m.Path), Description: archives.Description{Format: m.Format().Name}}, to: m.Recording, table: table, err: err})
		},
	}
	tables := x.lake.Tables(x.merged)
	tables = slices.DeleteFunc(tables, func(t export.Table) bool { return !x.wantsTable(t.Format, t.Name) })
	if x.prune != "" && x.seen > 0 {
		if err := x.mayPrune(ctx, m, tables); err != nil {
			return "", err
		}
	}
	inOrder(x.jobs, slices.Values(tables), func(t export.Table) error {
		if x.stopped.Load() != nil || ctx.Err() != nil {
			return nil
		}
		return m.Table(ctx, t.Format, t.Name, x.merged[t.Format])
	}, func(failed error) {
		if failed != nil && ctx.Err() == nil {
			x.stop(failed)
			err = cmp.Or(err, failed)
		}
	})
	if x.stopped.Load() != nil {
		err = nil
	}
	for _, list := range x.merged {
		for _, m := range list {
			if m.Known && len(m.Tables) == 0 {
				x.bare++
			}
		}
	}
	return count(x.written, "part", "parts"), err
}

// mayPrune lets parts lose the rows of recordings that are gone, unless there may be some that were
// not found.
func (x *exporter) mayPrune(ctx context.Context, m *export.Merge, tables []export.Table) error {
	isGone := func(format, at string) (bool, error) { return x.isGone(ctx, format, at) }
	if x.stays = x.unseen(); x.stays != "" {
		return nil
	}
	gone, all := 0, 0
	for _, t := range tables {
		g, n, err := m.Count(t.Format, t.Name, x.merged[t.Format], isGone)
		if err != nil {
			return err
		}
		gone, all = gone+g, all+n
	}
	if x.stays = x.tooMany(gone, all); x.stays == "" {
		m.Gone, x.gone = isGone, map[string]bool{}
	}
	return nil
}

// known returns the tables that recordings have, by path, as far as the catalogue knows. Nothing is
// asked if all recordings are new.
func (x *exporter) known(ctx context.Context) map[string][]string {
	if !x.lake.HasNote() {
		return nil
	}
	all := map[string][]string{}
	for s, err := range x.a.catalogue.Summaries(ctx, x.root.Dir) {
		if err == nil && s.Error == "" && s.Indexed {
			all[s.Place()] = s.Tables
		}
	}
	return all
}

// load opens a recording unless its tables are known.
func (x *exporter) load(ctx context.Context, done *outcome, known map[string][]string) {
	m := &export.Member{Recording: done.to}
	if m.Tables, m.Known = known[m.Path]; !m.Known {
		done.err = m.Load(ctx)
		m.Told()
	}
	for _, t := range m.Tables {
		x.meet(t)
	}
	done.member = m
}

// nameOf returns what people call the recording at a path in the source.
func (x *exporter) nameOf(at string) string {
	if x.alone {
		return x.source
	}
	return joinName(x.source, at)
}

// tellPart tells what became of a part.
func (x *exporter) tellPart(p *export.File) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, at := range p.Pruned {
		x.gone[p.Format+"/"+at] = true
	}
	if len(p.Pruned) > 0 {
		x.cut++
	}
	x.meter.file()
	x.tellFile(p)
}

// finish writes what a destination has of all recordings.
func (x *exporter) finish(ctx context.Context, pruned error) error {
	if x.shard.N > 1 {
		return nil
	}
	err := x.writeLake(ctx, pruned)
	if x.stop(err); x.stopped.Load() != nil {
		return *x.stopped.Load() // why what is written last could not be
	}
	return err
}

// writeLake writes that.
func (x *exporter) writeLake(ctx context.Context, pruned error) error {
	l := &export.Lake{Exporter: x.to, To: x.lake, Mode: x.mode, Pruned: x.prune != "" && pruned == nil, Alien: x.fail}
	var order []string
	n, err := l.Recordings(ctx, x.summaries(ctx, &order), func(format string) bool {
		return l.Pruned && len(x.tables) == 0 && isAmong(x.formats, format)
	})
	if err != nil {
		return err
	}
	single := func(format, table string) bool {
		f := x.a.formatNamed(format)
		return f.SingleTable(table) != nil
	}
	for _, f := range x.a.formats {
		for _, t := range f.Single {
			if !x.wantsTable(f.Name, t.Name) {
				continue
			}
			if err := l.Single(ctx, f.Name, t.Name, f.Timeless, order); err != nil {
				return err
			}
		}
	}
	return l.Views(x.viewsAt, n.Recordings, n.Unindexed, single)
}

// summaries yields what is known of the recordings that are wanted, and puts their paths into
// order.
func (x *exporter) summaries(ctx context.Context, order *[]string) iter.Seq2[catalogue.Summary, error] {
	return func(yield func(catalogue.Summary, error) bool) {
		*order = nil
		for s, err := range x.a.catalogue.Summaries(ctx, x.root.Dir) {
			switch {
			case err != nil:
			case s.Format == "" && s.Error == "", !isAmong(x.formats, s.Format):
				continue
			case x.alone:
				s.Path = base(x.source)
				s.PathHex = formats.HexOf(s.Path)
			}
			if err == nil && !s.Indexed && s.Error == "" {
				x.learn(ctx, &s)
			}
			*order = append(*order, s.Place())
			if !yield(s, err) {
				return
			}
		}
	}
}

// learn asks a recording, which has an index by now, what the catalogue does not keep.
func (x *exporter) learn(ctx context.Context, s *catalogue.Summary) {
	e := x.root
	if !x.alone {
		found, err := nodes.Lookup(ctx, x.root.Dir, s.Place())
		if err != nil {
			return
		}
		e = found
	}
	if k, _, err := catalogue.Summarize(ctx, e.Dir); err == nil {
		k.Path, k.PathHex, k.Format, k.Size, k.Modified, k.Tables = s.Path, s.PathHex, s.Format, s.Size, s.Modified, s.Tables
		*s = k
	}
}
