package cache

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
)

// Sidecar: magic, version and lengths of name and data (12 bytes), name, data, CRC-32C of
// all before it. Numbers are little-endian.
const (
	sidecarMagic   = "recfsidx"
	sidecarVersion = 1
	sidecarHeader  = len(sidecarMagic) + 4 + 4 + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeSidecar writes data as it is: it may be large, and a copy of it would
// be as large again.
func writeSidecar(w io.Writer, name string, data []byte) error {
	head := append(make([]byte, 0, sidecarHeader+len(name)), sidecarMagic...)
	head = binary.LittleEndian.AppendUint32(head, sidecarVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(name)))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(data)))
	head = append(head, name...)
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data)
	for _, b := range [][]byte{head, data, binary.LittleEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// A sidecarDamage says what is wrong with a sidecar.
type sidecarDamage string

func (d sidecarDamage) Error() string { return string(d) }

// readSidecar returns the data in an open file of size bytes. Before it reads
// that, or makes room for it, it knows that the file is the sidecar of that
// name, as long as it says and at most limit bytes. The size is that of the
// open file: by now its name may be that of another one.
func readSidecar(f io.Reader, size int64, name string, limit int64) ([]byte, error) {
	head := make([]byte, sidecarHeader+len(name))
	if _, err := io.ReadFull(f, head); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, sidecarDamage("too short")
	} else if err != nil {
		return nil, err
	}
	n, err := parseHead(head, name)
	if err != nil {
		return nil, err
	}
	const sumSize = 4
	if rest := size - int64(len(head)) - sumSize; rest < 0 || n != uint64(rest) {
		return nil, sidecarDamage("wrong length")
	}
	if size > min(limit, math.MaxInt) {
		return nil, errFull
	}
	b := make([]byte, n+sumSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	data, sum := b[:n], b[n:]
	if crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data) != binary.LittleEndian.Uint32(sum) {
		return nil, sidecarDamage("wrong checksum")
	}
	return data, nil
}

// parseHead returns how many bytes of data the sidecar of that name has.
func parseHead(head []byte, name string) (uint64, error) {
	if string(head[:len(sidecarMagic)]) != sidecarMagic {
		return 0, sidecarDamage("not a cache file")
	}
	h := head[len(sidecarMagic):]
	if v := binary.LittleEndian.Uint32(h); v != sidecarVersion {
		return 0, sidecarDamage(fmt.Sprintf("version %d", v))
	}
	if uint64(binary.LittleEndian.Uint32(h[4:])) != uint64(len(name)) || string(head[sidecarHeader:]) != name {
		return 0, sidecarDamage("another name")
	}
	return binary.LittleEndian.Uint64(h[8:]), nil
}

// sidecarName returns what was saved in a file, "" if it does not say.
func (d *diskDir) sidecarName(at string) string {
	if !strings.HasSuffix(at, sidecarExt) {
		return ""
	}
	f, _, err := d.open(at)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, sidecarHeader+4096)
	n, _ := f.ReadAt(head, 0) // a short file has what it has
	if head = head[:n]; len(head) < sidecarHeader || string(head[:len(sidecarMagic)]) != sidecarMagic {
		return ""
	}
	names := binary.LittleEndian.Uint32(head[len(sidecarMagic)+4:])
	return string(head[sidecarHeader:][:min(int64(names), int64(len(head)-sidecarHeader))])
}
