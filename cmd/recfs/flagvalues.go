package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats/export"
)

// offered is the annotation of a flag with the values that it is known to take.
const offered = "recfs_values"

// flagGiven is what a BoolFunc flag is set to without a value.
const flagGiven = "true"

// flagUsages are the lines of help about flags. One that may have a value shows those it is known
// to take: --prune[=force].
func flagUsages(flags *pflag.FlagSet, width int) string {
	shown := newFlagSet("")
	flags.VisitAll(func(f *pflag.Flag) {
		as := *f
		if values := f.Annotations[offered]; f.NoOptDefVal != "" {
			as.NoOptDefVal = cmp.Or(strings.Join(values, "|"), f.NoOptDefVal)
		}
		shown.AddFlag(&as)
	})
	return shown.FlagUsagesWrapped(width)
}

// offer tells completion values of a flag.
func offer(flags *pflag.FlagSet, name string, values ...string) {
	flags.Lookup(name).Annotations = map[string][]string{offered: values}
}

// optional returns what a flag calls to set *to to what parse makes of its value. Without the flag
// *to stays nil.
func optional[T any](to **T, parse func(string) (T, error)) func(string) error {
	return into(to, func(text string) (*T, error) {
		v, err := parse(text)
		return &v, err
	})
}

// into returns what a flag calls to set *to to what parse makes of its value.
func into[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = v
		}
		return err
	}
}

// value is what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// parseMoment parses a date, a time, or how long before now.
func parseMoment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if d, err := parseSpan(text); err == nil {
		return time.Now().Add(-d), nil
	}
	return time.Time{}, errors.New("not a time like 2026-11-21, 2026-11-21T18:00:00Z, 36h or 7d")
}

// parseSpan parses a length of time.
func parseSpan(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		const day, most = 24 * time.Hour, math.MaxInt64 / (24 * time.Hour)
		if n, err := strconv.ParseUint(days, 10, 32); err == nil && time.Duration(n) <= most {
			return time.Duration(n) * day, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, errors.New("not a length of time like 90s, 36h or 7d")
}

// upTo returns what parses a number up to most, and says what another text is not.
func upTo(most uint64, base int, what string) func(string) (uint32, error) {
	return func(text string) (uint32, error) {
		n, err := strconv.ParseUint(text, base, 32)
		if err != nil || n > most {
			err = errors.New("not " + what)
		}
		return uint32(n), err
	}
}

// A shardFlag is a flag value: I/N.
type shardFlag struct{ export.Shard }

func (s *shardFlag) Set(text string) error {
	var to export.Shard
	if n, err := fmt.Sscanf(text+"\n", "%d/%d\n", &to.I, &to.N); n != 2 || err != nil || to.I < 1 || to.I > to.N {
		return errors.New("not a part such as 1/8, the first of eight")
	}
	s.Shard = to
	return nil
}

func (s *shardFlag) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

func (s *shardFlag) Type() string { return "I/N" }

// notOfType says what a value is not that a flag of pflag does not take. Our own flag values say so
// themselves.
var notOfType = map[string]string{
	"bool":   "not true or false",
	"int":    "not a whole number",
	"uint32": "not a number of 0 and more",
}

// flagError is the sentence for a person about an error of parsing flags.
func flagError(err error, flags *pflag.FlagSet) string {
	var (
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		unknown *pflag.NotExistError
	)
	switch {
	case errors.As(err, &invalid):
		return "--" + invalid.GetFlag().Name + ": " + badValue(invalid)
	case errors.As(err, &missing):
		return "--" + missing.GetFlag().Name + " needs a value"
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return "unknown flag: -" + unknown.GetSpecifiedName()
	case errors.As(err, &unknown):
		return "unknown flag: --" + unknown.GetSpecifiedName() + didYouMean("--"+unknown.GetSpecifiedName(), flagNames(flags, "--"))
	}
	return err.Error()
}

// badValue says what is wrong with the value of a flag.
func badValue(err *pflag.InvalidValueError) string {
	text, ok := notOfType[err.GetFlag().Value.Type()]
	if !ok {
		text = errors.Unwrap(err).Error()
	}
	return fmt.Sprintf("%q is %s", err.GetValue(), text)
}

// flagNames returns the names of flags that help shows, each after a prefix.
func flagNames(flags *pflag.FlagSet, prefix string) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, prefix+f.Name)
		}
	})
	return names
}

// registerJobs adds the flag that says how much is done at a time.
func registerJobs(flags *pflag.FlagSet) {
	jobs := jobsFlag(runtime.GOMAXPROCS(0))
	flags.Var(&jobs, "jobs", "work on this `NUMBER` of recordings at a time (default: one for each processor)")
}

// A jobsFlag is a flag value: a number of 1 and more.
type jobsFlag int

func (j *jobsFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("not a number of 1 and more")
	}
	*j = jobsFlag(n)
	return nil
}

func (j *jobsFlag) String() string { return "" } // the usage tells the default

func (j *jobsFlag) Type() string { return "" }

// inOrder calls work for all items, for at most jobs of them at a time, and emit for the results in
// the order of the items.
func inOrder[T, R any](jobs int, items iter.Seq[T], work func(T) R, emit func(R)) {
	const ahead = 64 // of an item that takes long
	slots := make(chan struct{}, jobs)
	results := make(chan chan R, ahead)
	go func() {
		defer close(results)
		for item := range items {
			result := make(chan R, 1)
			slots <- struct{}{}
			results <- result
			go func() {
				result <- work(item)
				<-slots
			}()
		}
	}()
	for result := range results {
		emit(<-result)
	}
}
