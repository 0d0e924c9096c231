package fs

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recfs/nodes"
)

// A countedFile counts how often it was opened and how many of its Contents
// are open.
type countedFile struct {
	size          int64
	opens, active atomic.Int32
	fail          func(ctx context.Context) error
}

func (f *countedFile) Size(context.Context) (int64, error) { return f.size, nil }

func (f *countedFile) Open(ctx context.Context) (nodes.Content, error) {
	f.opens.Add(1)
	if f.fail != nil {
		if err := f.fail(ctx); err != nil {
			return nil, err
		}
	}
	f.active.Add(1)
	return &countedContent{file: f}, nil
}

type countedContent struct {
	file   *countedFile
	closed atomic.Bool
}

func (c *countedContent) Size() int64 { return c.file.size }

func (c *countedContent) ReadAt(_ context.Context, b []byte, _ int64) (int, error) {
	if c.closed.Load() {
		return 0, errors.New("read of a closed file")
	}
	return len(b), nil
}

func (c *countedContent) Close() error {
	if c.closed.Swap(true) {
		return errors.New("closed twice")
	}
	c.file.active.Add(-1)
	return nil
}

func use(t *testing.T, c *contents, i int, f nodes.File) {
	t.Helper()
	o, err := c.acquire(t.Context(), contentKey{nil, i}, f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.ReadAt(t.Context(), make([]byte, 1), 0); err != nil {
		t.Error(err)
	}
	c.release(o)
}

func TestContentsAreBounded(t *testing.T) {
	for _, test := range []struct {
		size int64
		want int
	}{{1, maxContents}, {maxContentBytes / 8, 8}, {maxContentBytes * 2, minContents}} {
		c := &contents{}
		f := &countedFile{size: test.size}
		for i := range 3 * maxContents {
			use(t, c, i, f)
		}
		if n := int(f.active.Load()); n != test.want || c.len() != n {
			t.Errorf("files of %d bytes: %d open, %d remembered, want %d", test.size, n, c.len(), test.want)
		}
		use(t, c, 3*maxContents-test.want, f) // the one used longest ago
		if n := f.opens.Load(); n != 3*maxContents {
			t.Errorf("files of %d bytes: opened %d times, want %d", test.size, n, 3*maxContents)
		}
		c.close()
		if n := f.active.Load(); n != 0 {
			t.Errorf("%d files are open after close", n)
		}
	}
}

func TestContentsInUseStayOpen(t *testing.T) {
	c := &contents{}
	f := &countedFile{size: maxContentBytes}
	o, err := c.acquire(t.Context(), contentKey{nil, -1}, f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		use(t, c, i, f)
	}
	if _, err := o.ReadAt(t.Context(), nil, 0); err != nil {
		t.Error(err)
	}
	c.close()
	if n := f.active.Load(); n != 1 {
		t.Errorf("%d files are open, want the one in use", n)
	}
	if _, err := o.ReadAt(t.Context(), nil, 0); err != nil {
		t.Error(err)
	}
	c.release(o)
	if n := f.active.Load(); n != 0 {
		t.Errorf("%d files are open after the last use", n)
	}
}

func TestContentsAreClosedWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &contents{}
		busy, idle := &countedFile{size: 1}, &countedFile{size: 1}
		use(t, c, 0, idle)
		for range 10 {
			use(t, c, 1, busy)
			time.Sleep(contentsIdle / 2)
		}
		if idle.active.Load() != 0 || busy.active.Load() != 1 || busy.opens.Load() != 1 {
			t.Errorf("idle: %d open, busy: %d open", idle.active.Load(), busy.active.Load())
		}
		time.Sleep(3 * contentsIdle)
		if c.len() != 0 || busy.active.Load() != 0 || c.timer != nil {
			t.Errorf("%d contents are remembered long after the last use", c.len())
		}
		use(t, c, 1, busy)
		time.Sleep(3 * contentsIdle)
		if c.len() != 0 {
			t.Errorf("%d contents are remembered after the second round", c.len())
		}
	})
}

func TestContentsShareOneOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &contents{}
		proceed := make(chan struct{})
		f := &countedFile{size: 100, fail: func(context.Context) error { <-proceed; return nil }}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { use(t, c, 7, f) })
		}
		synctest.Wait()
		close(proceed)
		wg.Wait()
		if n := f.opens.Load(); n != 1 {
			t.Errorf("opened %d times by 10 at once", n)
		}
		c.close()
	})
}

func TestContentsForgetFailures(t *testing.T) {
	c := &contents{}
	broken := errors.New("broken")
	f := &countedFile{fail: func(context.Context) error { return broken }}
	for range 2 {
		if _, err := c.acquire(t.Context(), contentKey{nil, 1}, f); !errors.Is(err, broken) {
			t.Errorf("%v, want %v", err, broken)
		}
	}
	if f.opens.Load() != 2 || c.len() != 0 {
		t.Errorf("opened %d times, %d remembered", f.opens.Load(), c.len())
	}
	f.fail = func(context.Context) error { panic("decoder") }
	func() {
		defer func() { recover() }()
		c.acquire(t.Context(), contentKey{nil, 1}, f)
	}()
	f.fail = nil
	use(t, c, 1, f)
	c.close()
}

func TestContentsOfInterruptedOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &contents{}
		f := &countedFile{size: 100}
		f.fail = func(ctx context.Context) error {
			if f.opens.Load() > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.acquire(ctx, contentKey{nil, 1}, f); !errors.Is(err, context.Canceled) {
				t.Errorf("the interrupted one: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() { use(t, c, 1, f) })
		synctest.Wait()
		cancel()
		wg.Wait()
		if n := f.opens.Load(); n != 2 {
			t.Errorf("opened %d times, want again for the one that goes on", n)
		}
		c.close()
	})
}
