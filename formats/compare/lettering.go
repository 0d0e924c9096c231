package compare

import (
	"image"
	"image/color"
	"unicode"
)

// glyphs are capital letters, digits and signs of three by five dots: a digit a row, whose bits are
// its dots from the left.
var glyphs = map[rune]string{
	'A': "25755", 'B': "65656", 'C': "34443", 'D': "65556", 'E': "74647", 'F': "74644", 'G': "34553",
	'H': "55755", 'I': "72227", 'J': "11152", 'K': "55655", 'L': "44447", 'M': "57755", 'N': "65555",
	'O': "25552", 'P': "65644", 'Q': "25563", 'R': "65655", 'S': "34216", 'T': "72222", 'U': "55557",
	'V': "55552", 'W': "55775", 'X': "55255", 'Y': "55222", 'Z': "71247",
	'0': "75557", '1': "26227", '2': "61247", '3': "61216", '4': "55711", '5': "74616", '6': "34757",
	'7': "71122", '8': "75757", '9': "75716",
	' ': "00000", '-': "00700", '/': "11244", ':': "02020", ',': "00024", '.': "00002", '_': "00007",
	'~': "03600", '+': "02720", '(': "12221", ')': "42224", '#': "57575",
}

// What is not among the glyphs, and the sizes of what is, in pixels.
const (
	noGlyph    = "75557"
	glyphZoom  = 2
	glyphWidth = 4 * glyphZoom
	lineHeight = 7 * glyphZoom
)

func textWidth(text string) int { return len([]rune(text)) * glyphWidth }

// text writes a line in black.
func (p *Picture) text(at image.Point, line string) {
	for _, r := range line {
		glyph, ok := glyphs[unicode.ToUpper(r)]
		if !ok {
			glyph = noGlyph
		}
		for y, row := range glyph {
			for x := range 3 {
				if (row-'0')>>(2-x)&1 != 0 {
					dot := at.Add(image.Pt(x, y).Mul(glyphZoom))
					p.fill(image.Rectangle{dot, dot.Add(image.Pt(glyphZoom, glyphZoom))}, color.NRGBA{A: 0xff})
				}
			}
		}
		at.X += glyphWidth
	}
}
