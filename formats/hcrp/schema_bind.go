package hcrp

// bindCaptures marks the fields of an event that its role or name gives a meaning.
func bindCaptures(def *eventDef) {
	wanted := map[string]capture{"entity": captureEntity, "velocity": captureRaw + rawVelocity}
	switch def.Role {
	case roleSpawn, rolePlace:
		wanted["position"] = capturePosition
		wanted["type"] = captureRaw + rawType
	case roleMove:
		wanted["delta"] = capturePosition
		wanted["dx"], wanted["dy"], wanted["dz"] = captureX, captureY, captureZ
		wanted["yaw"], wanted["pitch"] = captureYaw, capturePitch
	case roleBlock:
		wanted["at"], wanted["state"] = captureAt, captureRaw+rawState
	}
	switch def.Name {
	case eventState:
		wanted["pose"], wanted["flags"] = captureRaw+rawPose, captureRaw+rawFlags
	case eventUse:
		wanted["hand"] = captureRaw + rawHand
	case eventSlot:
		wanted["slot"] = captureRaw + rawSlot
	}
	for i := range def.fields {
		f := &def.fields[i]
		if c := wanted[f.name]; c.suits(f.typ) {
			f.capture = c
			bindView(f)
			if c == capturePosition && f.typ.kind == kindLpVec3 {
				f.capture = captureVector
			}
		}
		if def.Name == eventItems && f.name == "items" && f.typ.kind == kindMap && f.typ.key.kind.isInteger() {
			f.typ.gather = gatherItems
		}
		if def.Role == roleBlocks {
			bindBlocks(f.typ)
		}
	}
}

// suits reports whether a value of that type can be what c stands for.
func (c capture) suits(t *fieldType) bool {
	switch c {
	case captureEntity:
		return t.kind.isInteger()
	case capturePosition:
		return t.kind == kindPos || t.kind == kindLpPos || t.kind == kindLpVec3 || t.kind == kindStruct
	case captureX, captureY, captureZ, captureYaw, capturePitch:
		return t.kind.isNumber() || t.kind == kindScaled
	case captureAt:
		return t.kind == kindBlockPos
	}
	return true
}

// bindView marks the coordinates in a position that is a struct.
func bindView(f *field) {
	if f.capture != capturePosition || f.typ.kind != kindStruct {
		return
	}
	f.capture = captureNone
	names := map[string]capture{"x": captureX, "y": captureY, "z": captureZ, "yaw": captureYaw, "pitch": capturePitch}
	for i := range f.typ.fields {
		g := &f.typ.fields[i]
		if c := names[g.name]; c.suits(g.typ) {
			g.capture = c
		}
	}
}

// bindBlocks marks a list of structs with at and state.
func bindBlocks(t *fieldType) {
	if t.kind != kindList || t.elem.kind != kindStruct {
		return
	}
	at, state := false, false
	for i := range t.elem.fields {
		switch f := &t.elem.fields[i]; {
		case f.name == "at" && f.typ.kind == kindBlockPos:
			f.capture, at = captureAt, true
		case f.name == "state":
			f.capture, state = captureRaw+rawState, true
		}
	}
	if at && state {
		t.gather = gatherBlocks
	}
}
