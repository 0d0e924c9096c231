//go:build linux

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"recfs/bench/internal/harness"
)

// long is the name of the recording.
const long = "long.teehistorian"

//go:embed client.py
var client string

// A cost is what an answer took.
type cost struct {
	wall, client, server time.Duration // the last two of processor time
	read                 int64         // bytes of the recording
	answer               string
}

// less takes the lesser of each.
func (c *cost) less(d cost) {
	if c.answer == "" {
		*c = d
		return
	}
	c.wall, c.client, c.server, c.read = min(c.wall, d.wall), min(c.client, d.client), min(c.server, d.server), min(c.read, d.read)
}

// An asker asks questions about one recording.
type asker struct {
	program     harness.Program
	source, mnt string
	plain       string // the table as a file
	index       index
}

// An index is what index.json has.
type index struct {
	Totals struct {
		LastTick int64 `json:"last_tick"`
		Bytes    int64
		Events   map[string]int64
	}
	Chunks []struct {
		Chunk int
		First int64 `json:"first_tick"`
		Last  int64 `json:"last_tick"`
	}
}

// table is where the mount has the positions.
func (a *asker) table() string { return filepath.Join(a.mnt, long, "tables", "positions.parquet") }

// rows returns how many positions the table has.
func (a *asker) rows() int64 {
	e := a.index.Totals.Events
	return e["player_new"] + e["player_diff"] + e["player_old"]
}

// askAll asks all questions.
func askAll(ctx context.Context, program harness.Program, dir string) error {
	a := &asker{program: program, source: filepath.Join(dir, "long"), mnt: filepath.Join(dir, "mnt"), plain: filepath.Join(dir, "plain.parquet")}
	if err := makeLong(a.source); err != nil {
		return err
	}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	middle := a.index.Totals.LastTick / 2
	length := min(300_000, middle)
	oneTick := fmt.Sprintf("SELECT count(*), sum(x), sum(y) FROM T WHERE tick = %d", middle)
	average := fmt.Sprintf("SELECT avg(x) FROM T WHERE tick >= %d AND tick < %d", middle, middle+length)
	for _, q := range []struct {
		name, sql string
		aim       time.Duration
	}{
		{"count(*)", "SELECT count(*) FROM T", 25 * time.Millisecond},
		{"one tick", oneTick, 80 * time.Millisecond},
		{fmt.Sprintf("avg over %d ticks", length), average, 200 * time.Millisecond},
		{"all of positions", "SELECT sum(tick), sum(cid), sum(stay), sum(x), sum(y) FROM T", 0},
	} {
		if err := a.compare(ctx, q.name, q.sql, q.aim); err != nil {
			return err
		}
	}
	return a.askLines(ctx, middle, length)
}

// prepare makes the index, and the table as a file.
func (a *asker) prepare(ctx context.Context) error {
	err := a.mounted(ctx, func(*harness.Daemon) error {
		text, err := os.ReadFile(filepath.Join(a.mnt, long, "index.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &a.index); err != nil {
			return err
		}
		return copyFile(a.plain, a.table())
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(a.plain)
	if err != nil {
		return err
	}
	fmt.Printf("%d positions in %d chunks, %d MB as Parquet\n", a.rows(), len(a.index.Chunks), info.Size()/1e6)
	return nil
}

// mounted does work with a mount that has just begun, and has the index.
func (a *asker) mounted(ctx context.Context, work func(*harness.Daemon) error) error {
	d, err := a.program.Start(ctx, a.source, a.mnt)
	if err != nil {
		return err
	}
	if _, err = os.ReadFile(filepath.Join(a.mnt, long, "index.json")); err == nil { // the size of a table is known without the index
		err = work(d)
	}
	return errors.Join(err, d.Stop())
}

// compare asks DuckDB a question about the table in the mount and about that on disk, of which the pages
// are in memory.
func (a *asker) compare(ctx context.Context, name, sql string, aim time.Duration) error {
	var mount, plain cost
	for range *rounds {
		c, err := a.ask(ctx, strings.Replace(sql, "FROM T", "FROM '"+a.table()+"'", 1))
		if err != nil {
			return err
		}
		mount.less(c)
		if c, err = duckdb(ctx, strings.Replace(sql, "FROM T", "FROM '"+a.plain+"'", 1)); err != nil {
			return err
		}
		plain.less(c)
		if plain.answer != mount.answer {
			return fmt.Errorf("%s: %s from the mount, %s from disk", name, mount.answer, plain.answer)
		}
	}
	fmt.Printf("%-24s %7.1f ms", name, ms(mount.wall))
	if aim > 0 {
		fmt.Printf(" (aim: %.0f)", ms(aim))
	}
	chunk := float64(a.index.Totals.Bytes) / float64(len(a.index.Chunks))
	fmt.Printf(", %.1f chunks decoded; on disk %.1f ms, %.2f of its speed\n", float64(mount.read)/chunk, ms(plain.wall), ratio(plain.wall, mount.wall))
	fmt.Printf("%-24s server %.0f ms and DuckDB %.0f ms of processor time, on disk %.0f\n", "", ms(mount.server), ms(mount.client), ms(plain.client))
	if aim == 0 {
		fmt.Printf("%-24s %.2f of its speed by core (aim: 0.5): %.1f million rows a second by one that decodes, %.1f on disk\n", "",
			ratio(plain.client, mount.server), a.perSecond(mount.server), a.perSecond(plain.client))
	}
	return nil
}

// perSecond returns how many million rows a second of all in some time are.
func (a *asker) perSecond(d time.Duration) float64 { return float64(a.rows()) / 1e6 / d.Seconds() }

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// ask asks DuckDB about files in the mount.
func (a *asker) ask(ctx context.Context, sql string) (c cost, err error) {
	return a.measured(ctx, func() (cost, error) { return duckdb(ctx, sql) })
}

// measured adds to the cost of work what the server of a new mount has to do for it.
func (a *asker) measured(ctx context.Context, work func() (cost, error)) (c cost, err error) {
	err = a.mounted(ctx, func(d *harness.Daemon) error {
		before, err := usedBy(d, a.mnt)
		if err != nil {
			return err
		}
		if c, err = work(); err != nil {
			return err
		}
		after, err := usedBy(d, a.mnt)
		c.server, c.read = after.cpu-before.cpu, after.read-before.read
		return err
	})
	return c, err
}

// used is what the server of a mount has used.
type used struct {
	cpu    time.Duration
	read   int64 // bytes of sources
	misses int64 // values made
}

func usedBy(d *harness.Daemon, mnt string) (u used, err error) {
	text, err := os.ReadFile(filepath.Join(mnt, ".recfs", "stats.json"))
	if err != nil {
		return u, err
	}
	var stats struct {
		Read  int64 `json:"bytes_read"`
		Cache struct{ Misses int64 }
	}
	if err := json.Unmarshal(text, &stats); err != nil {
		return u, err
	}
	u.read, u.misses = stats.Read, stats.Cache.Misses
	u.cpu, err = d.CPU()
	return u, err
}

// duckdb runs one query.
func duckdb(ctx context.Context, sql string) (c cost, err error) {
	cmd := exec.CommandContext(ctx, *python, "-c", client, sql)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("%s: %w", *python, err)
	}
	var wall, cpu float64
	wallText, rest, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	cpuText, answer, _ := strings.Cut(rest, " ")
	if _, err := fmt.Sscan(wallText+" "+cpuText, &wall, &cpu); err != nil {
		return c, err
	}
	return cost{wall: time.Duration(wall * 1e6), client: time.Duration(cpu * 1e6), answer: answer}, nil
}
