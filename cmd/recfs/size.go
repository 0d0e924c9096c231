package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A byteSize is a flag value such as 256MiB, 4G or 65536. Units are powers of 1024.
type byteSize int64

const (
	kib byteSize = 1 << (10 * (iota + 1))
	mib
	gib
	tib
)

var units = []struct {
	letter string
	size   byteSize
}{{"T", tib}, {"G", gib}, {"M", mib}, {"K", kib}}

func (b *byteSize) Set(s string) error {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	unit := byteSize(1)
	for _, u := range units {
		if n, ok := strings.CutSuffix(number, u.letter); ok {
			number, unit = n, u.size
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return errors.New("not a size like 256MiB")
	}
	*b = byteSize(n) * unit
	return nil
}

// String is exact, so that a default reads as it can be given.
func (b byteSize) String() string {
	for _, u := range units {
		if b >= u.size && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.letter + "iB"
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func (b *byteSize) Type() string { return "size" }

// humanSize is a size for people: three digits and a unit.
func humanSize(n int64) string {
	for _, u := range units {
		if byteSize(n) >= u.size {
			return fmt.Sprintf("%.3g %siB", float64(n)/float64(u.size), u.letter)
		}
	}
	return fmt.Sprintf("%d B", n)
}
