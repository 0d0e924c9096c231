package nethack

import (
	"context"

	"recfs/formats"
)

// stateText returns a document of states/.
func (rec *recording) stateText(ctx context.Context, n int64) ([]byte, error) {
	return rec.ofTick(ctx, func(ctx context.Context) ([]byte, error) { return rec.documents.Get(ctx, n) })
}

// loadDocument decodes the save of tick n and makes its document.
func (rec *recording) loadDocument(ctx context.Context, n int64) (doc []byte, cost int64, err error) {
	x, err := rec.sound(ctx, int(n))
	if err != nil {
		return nil, 0, err
	}
	save, err := rec.saves.Get(ctx, int(n))
	if err != nil {
		return nil, 0, err
	}
	held, err := formats.Charge(ctx, stateCost+2*mapRows*rowCost+thingCost/objectSize*min(int64(len(save)), maxShown))
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	s := x.decodeState(int(n), save)
	if err := held.Grow(documentPerState * s.cost()); err != nil {
		return nil, 0, err
	}
	doc = s.appendDocument(nil)
	return doc, int64(cap(doc)), nil
}
