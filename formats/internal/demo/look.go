package demo

// A Look is the skin of a client and its colours, which count if Custom is set.
type Look struct {
	Skin       string
	Custom     bool
	Body, Feet int32
}

// DefaultLook is the look of a client of which nothing is known.
var DefaultLook = Look{Skin: "default"}

// Look6 returns the look that a 0.6 client asks for.
func Look6(skin string, custom, body, feet int32) Look {
	if skin == "" {
		skin = DefaultLook.Skin
	}
	return Look{skin, custom > 0, body, feet}
}

// Parts of a 0.7 client, in the order of its messages.
const (
	bodyPart = iota
	markingPart
	decorationPart
	handsPart
	feetPart
	eyesPart
	parts
)

// Parts are what a 0.7 client asks for: the name of each part, whether it has a colour of its own,
// and that colour.
type Parts struct {
	Names  [parts]string
	Custom [parts]int32 // 0: no
	Colors [parts]int32
}

// A standard is a skin of 0.6 as 0.7 has it.
type standard struct {
	skin, body, marking, decoration, eyes string
	colors                                [parts]any // int, or nil: none
}

// standards are all of them, in the order in which they are compared (docs/formats/demo.md section
// 5.4). Hands and feet have no other form than the standard one.
var standards = []standard{
	{"default", "standard", "", "", "standard", [parts]any{1798004, nil, nil, 1799582, 1869630, nil}},
	{"bluekitty", "kitty", "whisker", "", "negative", [parts]any{8681144, -8229413, nil, 7885547, 8868585, 9043712}},
	{"bluestripe", "standard", "stripes", "", "standard", [parts]any{10187898, nil, nil, 750848, 1944919, nil}},
	{"brownbear", "bear", "bear", "hair", "standard", [parts]any{1082745, -15634776, nil, 1082745, 1147174, nil}},
	{"cammo", "standard", "cammo2", "", "standard", [parts]any{5334342, -11771603, nil, 750848, 1944919, nil}},
	{"cammostripes", "standard", "cammostripes", "", "standard", [parts]any{5334342, -14840320, nil, 750848, 1944919, nil}},
	{"coala", "koala", "twinbelly", "", "standard", [parts]any{184, -15397662, nil, 184, 9765959, nil}},
	{"limekitty", "kitty", "whisker", "", "negative", [parts]any{4612803, -12229920, nil, 3827951, 3827951, 8256000}},
	{"pinky", "standard", "whisker", "", "standard", [parts]any{15911355, -801066, nil, 15043034, 15043034, nil}},
	{"redbopp", "standard", "donny", "unibop", "standard", [parts]any{16177260, -16590390, 16177260, 16177260, 7624169, nil}},
	{"redstripe", "standard", "stripe", "", "standard", [parts]any{16307835, nil, nil, 184, 9765959, nil}},
	{"saddo", "standard", "saddo", "", "standard", [parts]any{7171455, -9685436, nil, 3640746, 5792119, nil}},
	{"toptri", "standard", "toptri", "", "standard", [parts]any{6119331, nil, nil, 3640746, 5792119, nil}},
	{"twinbop", "standard", "duodonny", "twinbopp", "standard", [parts]any{15310519, -1600806, 15310519, 15310519, 37600, nil}},
	{"twintri", "standard", "twintri", "", "standard", [parts]any{3447932, -14098717, nil, 185, 9634888, nil}},
	{"warpaint", "standard", "warpaint", "", "standard", [parts]any{1944919, nil, nil, 750337, 1944919, nil}},
	{"greensward", "greensward", "duodonny", "", "standard", [parts]any{5635840, -11141356, nil, nil, nil, nil}},
}

// is reports whether p asks for exactly s.
func (s *standard) is(p *Parts) bool {
	if p.Names != [parts]string{s.body, s.marking, s.decoration, "standard", "standard", s.eyes} {
		return false
	}
	for i, color := range s.colors {
		want, on := color.(int)
		if (p.Custom[i] != 0) != on || on && p.Colors[i] != int32(want) {
			return false
		}
	}
	return true
}

// likeness returns in how many of the parts that tell skins apart p agrees with s.
func (s *standard) likeness(p *Parts) int {
	n := 0
	for part, name := range map[int]string{bodyPart: s.body, markingPart: s.marking, decorationPart: s.decoration} {
		if p.Names[part] == name {
			n++
		}
	}
	return n
}

// Look7 returns the look of a 0.7 client as servers show it to 0.6 clients.
func Look7(p *Parts) Look {
	best, likeness := &standards[0], 0
	for i := range standards {
		s := &standards[i]
		if s.is(p) {
			return Look{Skin: s.skin}
		}
		if n := s.likeness(p); n > likeness {
			best, likeness = s, n
		}
	}
	return Look{best.skin, true, p.color(bodyPart), p.color(feetPart)}
}

// white is the colour of a part that has none of its own.
const white = 255

// color returns the colour of a part for a 0.6 client. Its lightness begins at 1/2 there, and at
// 61/255 in 0.7. A darker colour becomes 1/2.
func (p *Parts) color(part int) int32 {
	if p.Custom[part] == 0 {
		return white
	}
	c := p.Colors[part]
	return c&0xffff00 | max(0, (776*(c&0xff)+255)/510-133)
}
