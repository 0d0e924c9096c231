//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"recfs/bench/internal/harness"
)

// makeOptions are the flags of make.
type makeOptions struct {
	binary string
	via    string
	most   int
	set    setOptions
}

// make looks at the source by one way, or by both, and returns the manifest of the first, and where
// the other differs from it.
func (m *maker) make(ctx context.Context, via string) (*manifest, []string, error) {
	if via != viaAll {
		made, err := m.through(ctx, via)
		return made, nil, err
	}
	mounted, err := m.through(ctx, viaMount)
	if err != nil {
		return nil, nil, err
	}
	copied, err := m.through(ctx, viaCopy)
	if err != nil {
		return nil, nil, err
	}
	return mounted, disagreements(mounted, copied, viaMount, viaCopy), nil
}

func (m *maker) through(ctx context.Context, way string) (*manifest, error) {
	look := map[string]func(context.Context) ([]record, error){viaMount: m.throughMount, viaCopy: m.throughCopy}[way]
	if look == nil {
		return nil, fmt.Errorf("no way %q; there are %s, %s and %s", way, viaMount, viaCopy, viaAll)
	}
	records, err := look(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", way, err)
	}
	made := &manifest{rule: m.sampler.rule(), records: records}
	made.sort()
	return made, nil
}

// disagreements says where two ways to the same tree show another content. What only one of them
// tells does not count, nor the words for an error. A file that fails has no content to compare.
func disagreements(a, b *manifest, wayA, wayB string) (all []string) {
	for path, pair := range paired(a, b) {
		switch {
		case pair[0] == nil && path == catalogue, pair[1] == nil && path == catalogue: // it is not listed
		case pair[0] == nil:
			all = append(all, fmt.Sprintf("%s: only through %s", quote(path), wayB))
		case pair[1] == nil:
			all = append(all, fmt.Sprintf("%s: only through %s", quote(path), wayA))
		case pair[0].failed() && pair[1].failed(), pair[1].fields[colError] == ownSource:
		default:
			for _, column := range pair[0].differing(*pair[1], nil) {
				all = append(all, fmt.Sprintf("%s: %s is %s through %s and %s through %s", quote(path), columnNames[column],
					pair[0].fields[column], wayA, pair[1].fields[column], wayB))
			}
		}
	}
	return all
}

// errDiffer ends the program with 1 after what differs was printed.
var errDiffer = errors.New("they differ")

// makeManifest runs the maker of flags in a directory of its own.
func makeManifest(ctx context.Context, opt makeOptions, source string, flags []string) error {
	return harness.InTemp("", func(temp string) error { return opt.make(ctx, temp, source, flags) })
}

func (opt makeOptions) make(ctx context.Context, temp, source string, flags []string) (err error) {
	if source == "" {
		if source, err = standardSet(ctx, temp, opt.set); err != nil {
			return err
		}
	}
	if source, err = filepath.Abs(source); err != nil {
		return err
	}
	binary, err := harness.Recfs(ctx, opt.binary, temp)
	if err != nil {
		return err
	}
	m := &maker{
		program: harness.Program{Binary: binary, Cache: filepath.Join(temp, "cache"), Flags: slices.Clone(flags)},
		source:  source, temp: temp, sampler: sampler{most: opt.most},
	}
	made, differences, err := m.make(ctx, opt.via)
	if err != nil {
		return err
	}
	if err := made.write(os.Stdout); err != nil {
		return err
	}
	for _, line := range differences {
		fmt.Fprintln(os.Stderr, line)
	}
	if len(differences) > 0 {
		return fmt.Errorf("%d times: %w", len(differences), errDiffer)
	}
	return nil
}
