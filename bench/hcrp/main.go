// Command hcrp measures how a long HCRP recording is decoded, against the zstd library alone on the
// same frames, in the same run. The recording is run-long.hcrp of the folder shared next to the
// repository, if it is there, else one from the test writer, whose events compress far less.
//
//	go run ./bench/hcrp [-benchtime 3s]
package main

import (
	"context"
	"flag"
	"fmt"

	"recfs/bench/internal/harness"
)

var benchtime = flag.String("benchtime", "1s", "how long, or with an x how often, each benchmark runs")

func main() { harness.Run("hcrp", run) }

func run(ctx context.Context) error {
	results, err := harness.Benchmarks(ctx, nil, "./formats/hcrp",
		"Lines|Bodies|Index|State$|ColdTick|Archive", "-benchtime", *benchtime)
	if err != nil {
		return err
	}
	value := map[string]map[string]float64{}
	for _, r := range results {
		value[r.Name] = r.Values
	}
	ns := func(name string) float64 { return value[name]["ns/op"] }
	bodies, floor := value["Bodies"]["MB/cpu-s"], value["Bodies"]["floor-MB/cpu-s"]
	fmt.Printf("floor (zstd alone)     %8.0f MB of bodies a second of processor time\n", floor)
	fmt.Printf("all bodies             %8.0f MB, %.2f of the floor (aim: 0.8)\n", bodies, bodies/floor)
	fmt.Printf("all of lines/          %8.0f MB/s of JSON (aim: 100)\n", value["Lines"]["MB/s"])
	fmt.Printf("the index              %8.2f times lines/, %.0f bytes on disk\n", ns("Index")/ns("Lines"), value["Index"]["index-bytes"])
	fmt.Printf("a state                %8.2f ms\n", ns("State")/1e6)
	fmt.Printf("a cold tick            %8.2f ms, %.0f bytes read beyond preamble and chunk (aim: 0)\n", ns("ColdTick")/1e6, value["ColdTick"]["extra-bytes"])
	fmt.Printf("20,000 recordings, ls  %8.0f ms cold, %.1f ms again (aim: 1000, 100)\n", value["Archive"]["cold-ms"], value["Archive"]["again-ms"])
	return nil
}
