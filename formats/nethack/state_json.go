package nethack

import (
	"strings"

	"recfs/formats/internal/jsonenc"
)

// appendJSON appends what is around the hero to the members of a document.
func (a *around) appendJSON(doc []byte) []byte {
	l := a.level
	if l == nil {
		l = &level{}
	}
	doc = appendRows(doc, "screen", a.screen)
	doc = appendList(doc, "inventory", a.pack, a.pack != nil, (*object).appendCarried)
	doc = appendList(doc, "monsters", l.monsters, a.level != nil, (*monster).appendJSON)
	doc = appendList(doc, "objects", l.objects, a.level != nil, (*object).appendLying)
	return appendList(doc, "traps", l.traps, a.level != nil, (*trap).appendJSON)
}

// appendMember begins a member of a document.
func appendMember(doc []byte, key string) []byte {
	doc = append(doc, ",\n  \""...)
	doc = append(doc, key...)
	return append(doc, "\": "...)
}

// appendRows appends a member with the rows of a map, each on a line.
func appendRows(doc []byte, key string, rows []string) []byte {
	row := func(row *string, doc []byte) []byte {
		if strings.IndexByte(*row, '"') < 0 && strings.IndexByte(*row, '\\') < 0 { // as symbols are printable
			return append(append(append(doc, '"'), *row...), '"')
		}
		return jsonenc.AppendString(doc, *row)
	}
	return appendList(doc, key, rows, rows != nil, row)
}

// appendList appends a member with a list of which each element stands on a line, or null.
func appendList[T any](doc []byte, key string, list []T, known bool, one func(*T, []byte) []byte) []byte {
	doc = appendMember(doc, key)
	switch {
	case !known:
		return append(doc, "null"...)
	case len(list) == 0:
		return append(doc, "[]"...)
	}
	sep := byte('[')
	for i := range list {
		doc = append(append(doc, sep), "\n    "...)
		doc = one(&list[i], doc)
		sep = ','
	}
	return append(doc, "\n  ]"...)
}
