//go:build linux

package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"recfs/bench/internal/harness"
)

var python = flag.String("python", "python3", "tables: a Python that has DuckDB")

//go:embed client.py
var client string

// A question about a recording, in SQL or as a filter of jq.
type question struct{ name, aim, sql, plain, jq string }

// measureTables lets DuckDB answer questions from a mount that has just begun, with the index on
// disk and in memory and nothing decoded, and from the same table as a file on disk; then from
// lines/, as jq does. The recording is one of teehistorian with the records of a sample many times:
// 3,000 MB have 200 million positions.
func measureTables(ctx context.Context, b *bench) error {
	source, mnt := b.path("long"), b.path("mnt")
	recording, plain := filepath.Join(mnt, "long.teehistorian"), b.path("plain.parquet")
	if err := os.Mkdir(source, 0o777); err != nil {
		return err
	}
	if err := harness.WriteLong(filepath.Join(source, "long.teehistorian"), longSample, cmp.Or(*size, 300)*1e6); err != nil {
		return err
	}
	var index indexJSON
	err := b.mounted(ctx, source, func(*harness.Daemon, string) (err error) {
		if index, err = readIndex(recording); err != nil {
			return err
		}
		return harness.Command(ctx, "cp", filepath.Join(recording, "tables/positions.parquet"), plain)
	})
	if err != nil {
		return err
	}
	note("recording", "%d chunks", len(index.Chunks))
	for _, q := range index.questions(recording, plain) {
		if err := b.ask(ctx, q, source, recording); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// An indexJSON is what index.json has.
type indexJSON struct {
	Totals struct {
		LastTick int64 `json:"last_tick"`
	}
	Chunks []struct {
		Chunk int
		First int64 `json:"first_tick"`
		Last  int64 `json:"last_tick"`
	}
}

func readIndex(recording string) (index indexJSON, err error) {
	text, err := os.ReadFile(filepath.Join(recording, "index.json"))
	if err != nil {
		return index, err
	}
	return index, json.Unmarshal(text, &index)
}

// questions are about one tick, about 300,000 or less, and about all of them; jq gets a tenth.
func (x indexJSON) questions(recording, plain string) []question {
	first := x.Totals.LastTick / 2
	length := min(300_000, first)
	few := max(length/10, 1)
	table := "'" + filepath.Join(recording, "tables/positions.parquet") + "'"
	asked := func(name, aim, sql string) question {
		return question{name: name, aim: aim, sql: sql + table, plain: sql + "'" + plain + "'"}
	}
	where := func(q question, condition string) question {
		q.sql, q.plain = q.sql+condition, q.plain+condition
		return q
	}
	const oneTick = `[.events[] | select(.event == "player_new" or .event == "player_diff" or .event == "player_old") | .x // empty] | "\(length) \(add)"`
	return []question{
		asked("count(*)", "25 ms", "SELECT count(*) FROM "),
		where(asked("one tick", "80 ms", "SELECT count(*), sum(x), sum(y) FROM "), fmt.Sprintf(" WHERE tick = %d", first)),
		where(asked(fmt.Sprintf("avg of %d ticks", length), "200 ms", "SELECT avg(x) FROM "), fmt.Sprintf(" WHERE tick >= %d AND tick < %d", first, first+length)),
		asked("all of positions", "server 2 of the floor", "SELECT sum(tick), sum(cid), sum(stay), sum(x), sum(y) FROM "),
		{name: "avg of lines/, DuckDB", sql: fmt.Sprintf("SELECT avg(e.x) FROM (SELECT unnest(events) AS e FROM read_json(['%s'], format = 'newline_delimited', "+
			"columns = {tick: 'BIGINT', events: 'STRUCT(event VARCHAR, x INTEGER)[]'}) WHERE tick >= %d AND tick < %d) "+
			"WHERE e.event IN ('player_new', 'player_diff', 'player_old')", strings.Join(x.lines(recording, first, first+length), "', '"), first, first+length)},
		{name: fmt.Sprintf("avg of %d of lines/, jq", few), jq: fmt.Sprintf(`jq -n '[inputs | select(.tick >= %d and .tick < %d) | .events[]
			| select(.event == "player_new" or .event == "player_diff" or .event == "player_old") | .x // empty] | add / length' %s`,
			first, first+few, strings.Join(x.lines(recording, first, first+few), " "))},
		{name: "one of ticks/, jq", jq: fmt.Sprintf("jq -r '%s' %s/ticks/%08d.json", oneTick, recording, first)},
	}
}

// lines returns the files of the chunks that have ticks from one to before another.
func (x indexJSON) lines(recording string, from, to int64) (files []string) {
	for _, c := range x.Chunks {
		if c.First < to && c.Last >= from {
			files = append(files, filepath.Join(recording, "lines", fmt.Sprintf("%06d.jsonl", c.Chunk)))
		}
	}
	return files
}

// ask asks a question of a fresh mount each time, and of the file on disk, of which the pages are
// in memory. It prints what the client takes, and below it the server.
func (b *bench) ask(ctx context.Context, q question, source, recording string) error {
	var took, plain, server best
	var answer string
	for range *rounds {
		err := b.mounted(ctx, source, func(d *harness.Daemon, _ string) error {
			if _, err := os.Stat(filepath.Join(recording, "lines")); err != nil {
				return err
			}
			if _, err := readIndex(recording); err != nil {
				return err
			}
			cost, err := harness.Measure(func() error {
				c, text, err := q.answer(ctx, q.sql)
				answer = text
				took.add(c)
				return err
			}, d.CPU)
			server.add(cost)
			return err
		})
		if err != nil {
			return err
		}
		if q.plain != "" {
			c, text, err := q.answer(ctx, q.plain)
			if err != nil || text != answer {
				return fmt.Errorf("%s from the mount, %s from disk: %w", answer, text, err)
			}
			plain.add(c)
		}
	}
	show(q.name, q.aim, took, plain)
	note("  server", "%11s %11.1f   answer %s", "", ms(server.CPU), answer)
	return nil
}

// answer runs DuckDB, or jq with the start of its process, which is what a user waits for.
func (q question) answer(ctx context.Context, sql string) (c harness.Cost, answer string, err error) {
	cmd := exec.CommandContext(ctx, *python, "-c", client, sql)
	if q.jq != "" {
		cmd = exec.CommandContext(ctx, "sh", "-c", q.jq)
	}
	cmd.Stderr = os.Stderr
	var out []byte
	c, err = harness.Measure(func() error { out, err = cmd.Output(); return err }, harness.CPU)
	answer = strings.TrimSpace(string(out))
	if err != nil || q.jq != "" {
		return c, answer, err
	}
	var wall, cpu float64
	if _, err := fmt.Sscan(answer, &wall, &cpu); err != nil {
		return c, answer, err
	}
	fields := strings.SplitN(answer, " ", 3)
	return harness.Cost{Clock: time.Duration(wall * 1e6), CPU: time.Duration(cpu * 1e6)}, fields[len(fields)-1], nil
}
