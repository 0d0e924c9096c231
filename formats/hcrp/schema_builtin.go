package hcrp

import (
	_ "embed"
	"sync"
)

//go:embed schemas/mapmaker-parkour-v3.json
var parkourV3 []byte

//go:embed schemas/mapmaker-parkour-v4.json
var parkourV4 []byte

// builtin returns the schemas that need no file, version 4 first.
var builtin = sync.OnceValues(func() ([]*Schema, error) {
	var list []*Schema
	for _, b := range [][]byte{parkourV4, parkourV3} {
		s, err := ParseSchema(b)
		if err != nil {
			return nil, err
		}
		s.builtin = true
		list = append(list, s)
	}
	return list, nil
})
