//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"sync"
	"time"

	"recfs/bench/internal/harness"
)

const (
	clients    = 500
	eachClient = 64 // KiB that a connection may take
	hangUpTime = 30 * time.Second
)

// serveCrowd looks at what recfs serve takes at most while clients ask for all that is in source,
// and at what is left of them.
func serveCrowd(ctx context.Context, p harness.Program, source string) error {
	d, address, err := p.Serve(ctx, source)
	if err != nil {
		return err
	}
	c := crowdOfClients{address: address, replies: map[string]int{}}
	before, err := c.goroutines(ctx, p)
	if err == nil {
		err = c.ask(ctx)
	}
	var left int
	for end := time.Now().Add(hangUpTime); err == nil; {
		if left, err = c.goroutines(ctx, p); left <= before || time.Now().After(end) {
			break
		}
	}
	fmt.Printf("%d clients for %v: replies %v, %d goroutines before, %d after\n", clients, *duration, c.replies, before, left)
	peak, peakErr := d.Number("status", "VmHWM")
	err = cmp.Or(err, peakErr, d.Stop(), judgePeak(fmt.Sprint(clients, " clients"), peak, clients*eachClient>>10))
	if err == nil && left > before {
		err = errors.New("something is left of clients that hung up")
	}
	return err
}

// crowdOfClients are clients that go through what a server has by chance.
type crowdOfClients struct {
	address string
	http    *http.Client

	mu      sync.Mutex
	replies map[string]int // by status and error, "cut" or "hung up"
}

// goroutines is how many the server has.
func (c *crowdOfClients) goroutines(ctx context.Context, p harness.Program) (int, error) {
	var stats struct{ Memory struct{ Goroutines int } }
	out, err := exec.CommandContext(ctx, p.Binary, "stats", "--json", c.address).Output()
	if err != nil {
		return 0, fmt.Errorf("stats: %w", err)
	}
	err = json.Unmarshal(out, &stats)
	return stats.Memory.Goroutines, err
}

// ask lets all clients ask until their time has come, when they hang up in the middle of things.
func (c *crowdOfClients) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	t := &http.Transport{MaxIdleConnsPerHost: clients}
	defer t.CloseIdleConnections()
	c.http = &http.Client{Transport: t}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				c.descend(ctx, c.address)
			}
		})
	}
	all.Wait()
	if c.replies["200 OK"] == 0 {
		return errors.New("nothing was served")
	}
	return nil
}

// descend asks for a folder, for one of its entries, and so on, until that is a file, of which the
// client takes the first bytes.
func (c *crowdOfClients) descend(ctx context.Context, at string) {
	var names []string
	c.get(ctx, at+"?format=json", func(body io.Reader) error {
		for lines := bufio.NewScanner(body); lines.Scan(); {
			var it struct{ Name, Type string }
			if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
				return err
			}
			names = append(names, url.PathEscape(it.Name)+map[string]string{"dir": "/"}[it.Type])
		}
		return nil
	})
	if len(names) == 0 {
		return
	}
	next := at + names[rand.IntN(len(names))]
	if next[len(next)-1] == '/' {
		c.descend(ctx, next)
		return
	}
	c.get(ctx, next, func(body io.Reader) error {
		_, err := io.CopyN(io.Discard, body, started)
		return err
	})
}

// get asks for a URL, and counts how that ended.
func (c *crowdOfClients) get(ctx context.Context, at string, take func(io.Reader) error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return
	}
	reply, err := c.http.Do(r)
	result := "cut"
	if err == nil {
		defer reply.Body.Close()
		result = reply.Status
		switch reply.StatusCode {
		case http.StatusInternalServerError: // which says why
			text, _ := io.ReadAll(reply.Body)
			result += ": " + string(bytes.TrimSpace(text))
		case http.StatusOK:
			if err := take(reply.Body); err != nil && !errors.Is(err, io.EOF) {
				result = "cut"
			}
		}
	}
	if ctx.Err() != nil {
		result = "hung up"
	}
	c.mu.Lock()
	c.replies[result]++
	c.mu.Unlock()
	if reply != nil && reply.Header.Get("Retry-After") != "" {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}
