package hcrp

import (
	"context"

	"recfs/nodes"
)

// rows returns the content of a CSV file: a head, then parts whose rows watch
// makes. Read in order, each stretch is played once.
func (t *theatre) rows(head string, parts []part, watch func(p *player, c *chunk, size int64) rowMaker) nodes.Content {
	var p *player // in front of stretch next
	next := 0
	f := nodes.NewPieces(oneByOne(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return []byte(head), nil
		}
		stretch := parts[i-1].Stretch
		if err := checkPiece(parts[i-1].Size); err != nil {
			return nil, err
		}
		var err error
		if p == nil || next != stretch {
			p, err = t.before(ctx, stretch)
		}
		var rows rowMaker
		if err == nil {
			err = t.play(ctx, p, stretch, t.scan.stretches[stretch].Last, func(c *chunk) watcher {
				rows = watch(p, c, parts[i-1].Size)
				return rows
			})
		}
		if err != nil {
			p = nil
			return nil, err
		}
		next = stretch + 1
		return rows.text(), nil
	}))
	f.Add(int64(len(head)))
	for _, part := range parts {
		f.Add(part.Size)
	}
	return f
}

// ghost returns the content of export/ghost.csv.
func (t *theatre) ghost() nodes.Content {
	var parts []part
	for i := range t.scan.stretches {
		if n := t.scan.stretches[i].Ghost; n > 0 {
			parts = append(parts, part{i, n})
		}
	}
	return t.rows(ghostHead, parts, func(p *player, _ *chunk, size int64) rowMaker {
		return &ghostRows{player: p, write: true, limit: size}
	})
}

// track returns the content of a file in tracks/.
func (t *theatre) track(tr *track) nodes.Content {
	return t.rows(trackHead, tr.Parts, func(p *player, c *chunk, _ int64) rowMaker {
		return &trackRows{track: tr, player: p, chunk: c}
	})
}
