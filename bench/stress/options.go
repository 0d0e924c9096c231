//go:build linux

package main

import (
	"cmp"
	"flag"
	"fmt"
	"time"
)

var (
	duration = flag.Duration("for", time.Minute, "how long; of memory, how long it may take")
	source   = flag.String("source", "testdata/archive", "the recordings that are used")
	cacheMem = flag.Int("cache-mem", 0, "memory budget in MiB (default: 32, for use 4)")
	seed     = flag.Uint64("seed", 0, "damage: of the first round; 0: another one each time")
	rounds   = flag.Int("rounds", 0, "damage: how many rounds at most; 0: as many as there is time for")
	keep     = flag.String("keep", "", "damage: the directory for the recordings of findings (default: a new one)")
	over     = flag.Int("over", 64, "damage: how many MiB more than the budget a process may take")
	patience = flag.Duration("patience", 90*time.Second, "damage: how long a command may take")
	copies   = flag.Int("copies", 6, "use: copies of the recordings in the archive")
	workers  = flag.Int("workers", 4, "use: concurrent users")
	serving  = flag.Bool("http", false, "memory: clients of recfs serve in place of readers of a mount, for -for")
	only     = flag.String("only", "", "memory: only the kinds of files with these names, as tiles.map,lines.nhgame, twelve of each")
)

// budget is that of the memory in MiB.
func budget(byDefault int) int { return cmp.Or(*cacheMem, byDefault) }

// smallBudget is that of damage and memory.
const smallBudget = 32

func budgetFlag(mib int) string { return fmt.Sprintf("--cache-mem=%dMiB", mib) }
