package teehistorian

import (
	"encoding/hex"
	"regexp"
	"strconv"

	"recfs/formats/internal/demo"
)

// minor16 is the version_minor of the first servers that record PLAYER_READY, those of 16.0.
const minor16 = 3

// isBefore16 reports whether the recording is of a server before 16.0.
func (h *header) isBefore16() bool { return h.number("version_minor") < minor16 }

// number returns the number under a key, whether it is a string or not, -1 if there is none.
func (h *header) number(key string) int {
	n, err := strconv.Atoi(plain(h.find(key)))
	if err != nil {
		return -1
	}
	return n
}

var majorVersion = regexp.MustCompile(`^[^,]*, *(\d{1,9})`)

// serverMajor returns the version of the server, 20 for "0.6 …, 20.0.1", 0 if it is not known.
func (h *header) serverMajor() int {
	m := majorVersion.FindStringSubmatch(h.text("server_version"))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // up to nine digits
	return n
}

// demoHeader returns the header of a demo.
func (h *header) demoHeader(id demoID, markers []int32) []byte {
	d := &demo.Header{
		Map: h.text("map_name"), Follows: id.follow != noStay, First: id.first, Last: id.last,
		Start: h.startTime().Time, Markers: markers,
	}
	if crc := h.text("map_crc"); len(crc) <= 8 {
		n, err := strconv.ParseUint(crc, 16, 32)
		if err == nil {
			d.CRC = uint32(n)
		}
	}
	if sum, err := hex.DecodeString(h.text("map_sha256")); err == nil && len(sum) == 32 {
		d.SHA256 = sum
	}
	return d.Append(nil)
}
