package echo

// A layout is one of the five ways in which a frame was written (docs/formats/butter.md section 1).
// Its first byte does not tell the three of version 3 apart; see chooseLayout.
type layout struct {
	name       string
	blocks     [8]block // bit 0 of the inclusion mask first
	pauseState bool     // the pause block has a byte for paused_state
	bones      bool     // a bone section ends the frame
	emotes     bool     // the player's state mask has is_emote_playing
	loadouts   bool     // players on combat maps have a loadout

	// How the state mask of a player says what follows (docs/formats/butter.md section 7).
	stats, ping uint8 // bits
	holding     uint8 // bit
	holdingOn   func(kind mapKind) bool
}

type mapKind uint8

const (
	other mapKind = iota
	arena
	combat
)

func onArena(k mapKind) bool   { return k == arena }
func offCombat(k mapKind) bool { return k != combat }
func always(mapKind) bool      { return true }

// A block is one of the optional parts of a frame (docs/formats/butter.md section 6).
type block uint8

const (
	blockStatus block = iota // status, points and inputs in one
	blockOldStatus
	blockOldPoints
	blockOldInputs
	blockPause
	blockScore
	blockThrow
	blockVR
	blockDisc
	blockPayload
	blockRules
)

var (
	newBlocks = [8]block{blockStatus, blockPause, blockScore, blockThrow, blockVR, blockDisc, blockPayload, blockRules}
	oldBlocks = [8]block{blockOldStatus, blockOldPoints, blockPause, blockOldInputs, blockScore, blockThrow, blockVR, blockDisc}
)

var (
	layoutDec2021 = &layout{name: "dec2021", blocks: oldBlocks, stats: 1 << 4, ping: 1 << 5, holding: 1 << 6, holdingOn: always}
	layoutV1      = &layout{name: "v1", blocks: oldBlocks, bones: true, stats: 1 << 4, ping: 1 << 5, holding: 1 << 6, holdingOn: always}
	layoutV2      = &layout{
		name: "v2", blocks: oldBlocks, bones: true, loadouts: true,
		stats: 1 << 4, ping: 1 << 5, holding: 1 << 6, holdingOn: offCombat,
	}
	layoutV3Early = &layout{
		name: "v3early", blocks: newBlocks, bones: true, emotes: true, loadouts: true,
		stats: 1 << 5, ping: 1 << 6, holding: 1 << 6, holdingOn: onArena,
	}
	layoutV3 = &layout{
		name: "v3", blocks: newBlocks, pauseState: true, bones: true, emotes: true, loadouts: true,
		stats: 1 << 5, ping: 1 << 6, holding: 1 << 6, holdingOn: onArena,
	}
)

// layoutsOf returns the layouts that a version byte can mean, the likeliest first.
func layoutsOf(version uint8) []*layout {
	switch version {
	case 1:
		return []*layout{layoutV1}
	case 2:
		return []*layout{layoutV2}
	default:
		return []*layout{layoutV3, layoutV3Early, layoutDec2021}
	}
}
