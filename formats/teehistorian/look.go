package teehistorian

import (
	"fmt"
	"strings"

	"recfs/formats/internal/demo"
)

// A look is country, skin and colours that a client asked for, as text: there are few, and a
// checkpoint refers to each by number. Empty: it asked for none.
//
//	country custom body feet skin
type look string

func newLook(country int32, l demo.Look) look {
	custom := 0
	if l.Custom {
		custom = 1
	}
	return look(fmt.Sprintf("%d %d %d %d %s", country, custom, l.Body, l.Feet, l.Skin))
}

// noCountry is that of a client that tells none.
const noCountry = -1

// parse returns what l says. What is no look, as in a damaged index, says nothing.
func (l look) parse() (country int32, _ demo.Look) {
	var custom, body, feet int32
	if _, err := fmt.Sscanf(string(l), "%d %d %d %d", &country, &custom, &body, &feet); err != nil {
		return noCountry, demo.DefaultLook
	}
	skin := string(l)
	for range 4 {
		_, skin, _ = strings.Cut(skin, " ")
	}
	return country, demo.Look{Skin: skin, Custom: custom != 0, Body: body, Feet: feet}
}

// setLook notes what a message says about the look of p (docs/formats/demo.md section 7).
func (p *player) setLook(m *message) {
	if !m.ok {
		return
	}
	num := func(name string) int32 { return find(m.values, name).num }
	var country int32
	var l demo.Look
	switch {
	case m.typ == skinChange:
		country, _ = p.look.parse()
		l = m.look7()
	case !m.isInfo():
		return
	case m.protocol == protocol7:
		country, l = num("country"), m.look7()
	default:
		country = num("country")
		skin := cleanText(find(m.values, "skin").bytes)
		l = demo.Look6(skin, num("use_custom_color"), num("color_body"), num("color_feet"))
	}
	p.look = newLook(country, l)
}

// look7 returns the look in a message of a 0.7 client.
func (m *message) look7() demo.Look {
	p := demo.Parts{Custom: find(m.values, "use_custom").nums, Colors: find(m.values, "colors").nums}
	for i, name := range find(m.values, "skin_parts").texts {
		p.Names[i] = cleanText(name)
	}
	return demo.Look7(&p)
}
