//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// jqShare is what part of the ticks jq is asked for, which takes minutes for all of them.
const jqShare = 10

// askLines asks for the average of x in some ticks, and for one tick, without tables: of lines/ and ticks/,
// by DuckDB's reader of JSON and by jq.
func (a *asker) askLines(ctx context.Context, first, n int64) error {
	average := fmt.Sprintf("SELECT avg(e.x) FROM (SELECT unnest(events) AS e FROM read_json(['%s'], format = 'newline_delimited', "+
		"columns = {tick: 'BIGINT', events: 'STRUCT(event VARCHAR, x INTEGER)[]'}) WHERE tick >= %d AND tick < %d) "+
		"WHERE e.event IN ('player_new', 'player_diff', 'player_old')", strings.Join(a.lines(first, first+n), "', '"), first, first+n)
	few := max(n/jqShare, 1)
	filter := fmt.Sprintf(`[inputs | select(.tick >= %d and .tick < %d) | .events[]
		| select(.event == "player_new" or .event == "player_diff" or .event == "player_old") | .x // empty] | add / length`, first, first+few)
	const oneTick = `[.events[] | select(.event == "player_new" or .event == "player_diff" or .event == "player_old") | .x // empty] | "\(length) \(add)"`
	tick := filepath.Join(a.mnt, long, "ticks", fmt.Sprintf("%08d.json", first))
	for _, q := range []struct {
		name string
		ask  func() (cost, error)
	}{
		{fmt.Sprintf("avg over %d of lines/, DuckDB", n), func() (cost, error) { return duckdb(ctx, average) }},
		{fmt.Sprintf("avg over %d of lines/, jq", few), func() (cost, error) {
			return jq(ctx, append([]string{"-n", filter}, a.lines(first, first+few)...)...)
		}},
		{"one tick of ticks/, jq", func() (cost, error) { return jq(ctx, "-r", oneTick, tick) }},
	} {
		var best cost
		for range *rounds {
			c, err := a.measured(ctx, q.ask)
			if err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
			best.less(c)
		}
		fmt.Printf("%-32s %7.1f ms, server %.0f ms and client %.0f ms of processor time: %s\n", q.name, ms(best.wall), ms(best.server), ms(best.client), best.answer)
	}
	return nil
}

// lines returns the files of the chunks that have ticks from one to before another.
func (a *asker) lines(from, to int64) (files []string) {
	for _, c := range a.index.Chunks {
		if c.First < to && c.Last >= from {
			files = append(files, filepath.Join(a.mnt, long, "lines", fmt.Sprintf("%06d.jsonl", c.Chunk)))
		}
	}
	return files
}

// jq runs jq. Its time has that of the start of the process, which is what a user waits for.
func jq(ctx context.Context, args ...string) (c cost, err error) {
	cmd := exec.CommandContext(ctx, "jq", args...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	out, err := cmd.Output()
	c.wall, c.answer = time.Since(start), strings.TrimSpace(string(out))
	if err == nil {
		c.client = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return c, err
}
