package datafile

import "image/color"

// collisionPalette holds the colours of collision.png.
var collisionPalette = []color.NRGBA{
	rgb(0xf2f2ee), // 0 air
	rgb(0x8a6d4f), // 1 solid
	rgb(0xd43d2a), // 2 death
	rgb(0x4d525c), // 3 unhookable
	rgb(0x22314a), // 4 freeze
	rgb(0xa9d6ee), // 5 unfreeze
	rgb(0x2f9e44), // 6 start
	rgb(0xf2c037), // 7 finish
	rgb(0x7fc8a9), // 8 checkpoint
	rgb(0xb14fc5), // 9 entity
	rgb(0x9aa0a8), // 10 anything else
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{byte(v >> 16), byte(v >> 8), byte(v), 0xff}
}

// collisionColor returns the entry of the palette for an index of the game layer.
func collisionColor(index byte) byte {
	switch {
	case index <= 3:
		return index
	case index == 9 || index == 12:
		return 4
	case index == 11 || index == 13:
		return 5
	case index == 33:
		return 6
	case index == 34:
		return 7
	case index >= 35 && index <= 59:
		return 8
	case index >= 192:
		return 9
	}
	return 10
}
