package hcrp

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// The JSON of a schema file. Unknown keys are ignored.
type (
	schemaJSON struct {
		Format string `json:"format"`
		Name   string `json:"name"`
		Match  struct {
			Layout   string `json:"layout"`
			Versions []int  `json:"versions"`
		} `json:"match"`
		EventLength string        `json:"event_length"`
		Events      []eventJSON   `json:"events"`
		Snapshot    *snapshotJSON `json:"snapshot"`
	}
	eventJSON struct {
		ID     *int32      `json:"id"`
		Name   string      `json:"name"`
		Role   string      `json:"role"`
		Fields []fieldJSON `json:"fields"`
	}
	fieldJSON struct {
		Name string          `json:"name"`
		Type json.RawMessage `json:"type"`
	}
	snapshotJSON struct {
		Kind    string        `json:"kind"`
		Entries []eventJSON   `json:"entries"`
		Pattern []patternJSON `json:"pattern"`
	}
	patternJSON struct {
		ID   *int32 `json:"id"`
		Many bool   `json:"many"`
	}
	typeJSON struct {
		Enum     []string          `json:"enum"`
		Flags    []string          `json:"flags"`
		As       string            `json:"as"`
		Scaled   string            `json:"scaled"`
		By       float64           `json:"by"`
		Fixed    *int              `json:"fixed"`
		Optional json.RawMessage   `json:"optional"`
		List     json.RawMessage   `json:"list"`
		Map      []json.RawMessage `json:"map"`
		Struct   []fieldJSON       `json:"struct"`
	}
)

// ParseSchema parses a schema file.
func ParseSchema(b []byte) (*Schema, error) {
	var j schemaJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, schemaError("%v", jsonenc.Explain(err))
	}
	switch {
	case j.Format != schemaFormat:
		return nil, schemaError("the format is %q, not %q", j.Format, schemaFormat)
	case j.Match.Layout != "" && j.Match.Layout != string(Published) && j.Match.Layout != string(Design):
		return nil, schemaError("unknown layout %q", j.Match.Layout)
	}
	s := &Schema{Name: j.Name, Layout: Layout(j.Match.Layout), Vers: j.Match.Versions, sum: sha256.Sum256(b)}
	switch j.EventLength {
	case "", "none":
	case "varint":
		s.length = lengthVarint
	case "i32":
		s.length = lengthI32
	default:
		return nil, schemaError("unknown event_length %q", j.EventLength)
	}
	if s.length != lengthNone && s.Layout == Published {
		return nil, errSchemaLength
	}
	var err error
	if s.byID, err = compileEvents(j.Events, "event"); err != nil {
		return nil, err
	}
	for id, def := range s.byID {
		if id >= 0 && int(id) < len(s.small) {
			s.small[id] = def
		}
	}
	if j.Snapshot != nil {
		err = s.compileSnapshot(j.Snapshot)
	}
	return s, err
}

var errSchemaLength = schemaError("events of the published layout have no length")

func schemaError(msg string, args ...any) error {
	return formats.Reasonf(formats.ErrCorrupt, "the schema cannot be used: "+msg, args...)
}

func (s *Schema) compileSnapshot(j *snapshotJSON) error {
	switch j.Kind {
	case "section":
		var err error
		s.section, err = compileEvents(j.Entries, "entry")
		return err
	case "leading":
		s.leading = []patternItem{}
		for _, p := range j.Pattern {
			if p.ID == nil {
				return schemaError("an element of the snapshot pattern has no id")
			}
			s.leading = append(s.leading, patternItem{*p.ID, p.Many})
		}
		return nil
	}
	return schemaError("unknown kind of snapshot %q", j.Kind)
}

// compileEvents compiles events or entries; noun is the first key of their JSON.
func compileEvents(list []eventJSON, noun string) (map[int32]*eventDef, error) {
	defs := make(map[int32]*eventDef, len(list))
	for _, e := range list {
		if e.ID == nil || e.Name == "" {
			return nil, schemaError("an %s without id or name", noun)
		}
		if defs[*e.ID] != nil {
			return nil, schemaError("%s id %d stands twice", noun, *e.ID)
		}
		fields, err := compileFields(e.Fields, 1)
		if err != nil {
			return nil, fmt.Errorf("%w (%s %q)", err, noun, e.Name)
		}
		for _, f := range fields {
			if slices.Contains([]string{"event", "entry", "id", "snapshot"}, f.name) {
				return nil, schemaError("%s %q has a field named %q", noun, e.Name, f.name)
			}
		}
		def := &eventDef{ID: *e.ID, Name: e.Name, Role: e.Role, fields: fields}
		def.head = string(appendHead(nil, noun, e.Name, *e.ID))
		def.entity = slices.IndexFunc(fields, func(f field) bool { return f.name == "entity" && f.typ.kind < kindList })
		bindCaptures(def)
		defs[*e.ID] = def
	}
	return defs, nil
}

func compileFields(list []fieldJSON, depth int) ([]field, error) {
	fields := make([]field, 0, len(list))
	for _, f := range list {
		t, err := compileType(f.Type, depth)
		if err != nil {
			return nil, fmt.Errorf("%w (field %q)", err, f.Name)
		}
		if slices.ContainsFunc(fields, func(g field) bool { return g.name == f.Name }) {
			return nil, schemaError("field %q stands twice", f.Name)
		}
		fields = append(fields, newField(f.Name, t))
	}
	return fields, nil
}

func compileType(raw json.RawMessage, depth int) (*fieldType, error) {
	if depth > maxSchemaDeep {
		return nil, schemaError("types are nested deeper than %d", maxSchemaDeep)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return nil, schemaError("%v", jsonenc.Explain(err))
		}
		return scalarType(name)
	}
	var j typeJSON
	if len(raw) == 0 || raw[0] != '{' {
		return nil, schemaError("a type is a name or an object")
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, schemaError("%v", jsonenc.Explain(err))
	}
	switch {
	case j.Enum != nil:
		return namedType(kindEnum, j.Enum, j.As)
	case j.Flags != nil:
		return namedType(kindFlags, j.Flags, j.As)
	case j.Scaled != "":
		return scaledType(j.Scaled, j.By)
	case j.Fixed != nil:
		if *j.Fixed < 0 {
			return nil, schemaError("a fixed length of %d", *j.Fixed)
		}
		return &fieldType{kind: kindFixed, n: *j.Fixed, least: *j.Fixed}, nil
	}
	return compileNested(j, depth)
}

func compileNested(j typeJSON, depth int) (*fieldType, error) {
	switch {
	case j.Optional != nil:
		elem, err := compileType(j.Optional, depth+1)
		return &fieldType{kind: kindOptional, elem: elem, least: 1}, err
	case j.List != nil:
		elem, err := compileType(j.List, depth+1)
		if err == nil && elem.least == 0 {
			err = schemaError("a list of a type that can take no bytes")
		}
		return &fieldType{kind: kindList, elem: elem, least: 1}, err
	case len(j.Map) == 2:
		key, err := compileType(j.Map[0], depth+1)
		if err != nil {
			return nil, err
		}
		elem, err := compileType(j.Map[1], depth+1)
		if err == nil && key.least+elem.least == 0 {
			err = schemaError("a map of types that can take no bytes")
		}
		return &fieldType{kind: kindMap, key: key, elem: elem, least: 1}, err
	case j.Struct != nil:
		fields, err := compileFields(j.Struct, depth+1)
		t := &fieldType{kind: kindStruct, fields: fields}
		for _, f := range fields {
			t.least = min(t.least+f.typ.least, 1<<20)
		}
		return t, err
	}
	return nil, schemaError("a type without a known key")
}

func scalarType(name string) (*fieldType, error) {
	s, ok := scalars[name]
	if !ok {
		return nil, schemaError("unknown type %q", name)
	}
	return &fieldType{kind: s.kind, least: s.least}, nil
}

func namedType(kind kind, names []string, as string) (*fieldType, error) {
	s := scalars[as]
	if !s.kind.isInteger() {
		return nil, schemaError("an enum or flags as %q, which is no integer", as)
	}
	return &fieldType{kind: kind, names: names, base: s.kind, least: s.least}, nil
}

func scaledType(base string, by float64) (*fieldType, error) {
	s := scalars[base]
	if !s.kind.isNumber() {
		return nil, schemaError("a scaled %q, which is no number", base)
	}
	return &fieldType{kind: kindScaled, base: s.kind, by: by, least: s.least}, nil
}
