// Command nethack rebuilds all saves of two generated NetHack logs, 100 kB and 970 kB a save in
// chains of 600 and 2,400 diffs, and prints what that costs in processor time against copying the
// same bytes, measured in the same run.
//
//	go run ./bench/nethack [-benchtime 10x]
package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"recfs/bench/internal/harness"
)

var benchtime = flag.String("benchtime", "5x", "how long, or with an x how often, each benchmark runs")

func main() { harness.Run("nethack", run) }

func run(ctx context.Context) error {
	results, err := harness.Benchmarks(ctx, nil, "./formats/nethack", "Medium|Long", "-benchtime", *benchtime)
	if err != nil {
		return err
	}
	var logs []string
	value := map[string]map[string]float64{}
	for _, r := range results {
		value[r.Name] = r.Values
		if log, part, _ := strings.Cut(r.Name, "/"); part == "passes" {
			logs = append(logs, log)
		}
	}
	for _, log := range logs {
		show(log, value[log+"/passes"], value[log+"/cold"]["ns/op"], value[log+"/near"]["ns/op"], value[log+"/memory"]["MiB-over"])
	}
	return nil
}

// show prints the results of one log: those of the passes over all saves by unit, the time of a
// save that is rebuilt from far away and from nearby in nanoseconds, and the memory.
func show(log string, passes map[string]float64, cold, near, memory float64) {
	floor := passes["floor-MB/cpu-s"]
	rate := func(what, unit, aim string) {
		v := passes[unit+"-MB/cpu-s"]
		fmt.Printf("%s: %-22s %8.0f MB/cpu-s, %.2f of the floor%s\n", log, what, v, v/floor, aim)
	}
	fmt.Printf("%s: floor (memmove)        %8.0f MB/cpu-s of saves\n", log, floor)
	rate("copies that are kept", "kept", "")
	rate("index pass", "index", "")
	rate("sequential pass", "sequential", " (aim: 0.25)")
	fmt.Printf("%s: last save, cold        %8.2f ms (aim: 30)\n", log, cold/1e6)
	fmt.Printf("%s: save near a checkpoint %8.2f ms (aim: 1)\n", log, near/1e6)
	fmt.Printf("%s: memory above a budget of 32 MiB %5.1f MiB (aim: 16)\n", log, memory)
}
