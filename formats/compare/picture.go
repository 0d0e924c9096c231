package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"recfs/nodes"
)

// A Picture shows the tiles that differ in two maps, with a legend: green where tiles were added,
// red where they were removed, and orange where others took their place, in any layer. They are
// over the picture of the cells, or the old map and the new one are beside each other. Maps of
// different size stand with their upper left corners on each other; wide and flat ones are folded
// into rows.
type Picture struct {
	img    *image.NRGBA
	scale  int           // pixels a tile
	size   image.Point   // of the maps in tiles
	fold   int           // tiles in a row of the picture
	sides  []image.Image // the old map and the new one, beside each other; nil: they are not
	layers []string      // that differ
	counts map[string]*[3]int
}

const (
	maxPixels = 4_000_000 // of a picture
	maxSide   = 1 << 14   // tiles
)

// What happens to a tile.
const (
	tileAdded = iota
	tileRemoved
	tileChanged
)

var (
	tileWords   = [3]string{"added", "removed", "changed"}
	tileColours = [3]color.NRGBA{{0x2f, 0x9e, 0x44, 0xff}, {0xd4, 0x3d, 0x2a, 0xff}, {0xf0, 0x8c, 0x00, 0xff}}

	colourOutside = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}
)

// NewPicture returns the picture of two maps without any marks. The error is ErrNothing for what
// are no maps with a game layer.
func NewPicture(ctx context.Context, a, b Side, sideBySide bool) (*Picture, error) {
	old, err := picture(ctx, a)
	if err != nil {
		return nil, err
	}
	now, err := picture(ctx, b)
	if err != nil {
		return nil, err
	}
	p := &Picture{scale: 16, size: old.Bounds().Union(now.Bounds()).Size(), counts: map[string]*[3]int{}}
	if sideBySide {
		p.sides = []image.Image{old, now}
	}
	rows := max(1, int(math.Sqrt(float64(p.size.X)/float64(2*p.size.Y))))
	p.fold = (p.size.X + rows - 1) / rows
	end := p.place(max(len(p.sides)-1, 0), p.size.X-1, p.size.Y-1).Max
	for end.X = p.place(max(len(p.sides)-1, 0), p.fold-1, 0).Max.X; p.scale > 1 && end.X*end.Y > maxPixels; p.scale /= 2 {
		end = end.Div(2)
	}
	p.img = image.NewNRGBA(image.Rectangle{Max: end})
	p.fill(p.img.Rect, color.NRGBA{0xff, 0xff, 0xff, 0xff})
	for y := range p.size.Y {
		for x := range p.size.X {
			for i, side := range p.sides {
				p.fill(p.place(i, x, y), pale(at(x, y, side)))
			}
			if !sideBySide {
				p.fill(p.place(0, x, y), faint(at(x, y, now, old)))
			}
		}
	}
	return p, nil
}

// at returns the colour of a cell in the first of some pictures that has it.
func at(x, y int, in ...image.Image) color.Color {
	for _, m := range in {
		if image.Pt(x, y).In(m.Bounds()) {
			return m.At(x, y)
		}
	}
	return colourOutside
}

// place returns where a tile is on a side.
func (p *Picture) place(side, x, y int) image.Rectangle {
	at := image.Pt(side*(p.fold+1)+x%p.fold, x/p.fold*(p.size.Y+1)+y).Mul(p.scale)
	return image.Rectangle{at, at.Add(image.Pt(p.scale, p.scale))}
}

// picture returns the picture of the cells of a recording.
func picture(ctx context.Context, of Side) (image.Image, error) {
	e, err := nodes.Lookup(ctx, of.Dir, cmp.Or(of.Picture, "."))
	if err != nil || e.File == nil {
		return nil, fmt.Errorf("%w: there is no %s to draw on", ErrNothing, cmp.Or(of.Picture, "picture"))
	}
	content, err := e.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer nodes.CloseContent(content)
	r := nodes.Reader(ctx, content)
	config, err := png.DecodeConfig(r)
	if err != nil {
		return nil, err
	}
	if config.Width > maxSide || config.Height > maxSide || config.Width*config.Height > 16*maxPixels {
		return nil, errors.New("the map is too large to be drawn")
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return png.Decode(r)
}

// faint returns a colour half way to white, in grey.
func faint(c color.Color) color.NRGBA {
	grey, _ := color.GrayModel.Convert(c).(color.Gray)
	v := 0x80 + grey.Y/2
	return color.NRGBA{v, v, v, 0xff}
}

// pale returns a colour half way to white.
func pale(c color.Color) color.NRGBA {
	r, g, b, _ := c.RGBA()
	part := func(v uint32) uint8 { return uint8(0x80 + v>>9) }
	return color.NRGBA{part(r), part(g), part(b), 0xff}
}

// Mark marks a tile; it is the Marks of the picture.
func (p *Picture) Mark(layer string, x, y int, old, now string) {
	what := tileChanged
	if old == air {
		what = tileAdded
	} else if now == air {
		what = tileRemoved
	}
	if p.counts[layer] == nil {
		p.layers, p.counts[layer] = append(p.layers, layer), &[3]int{}
	}
	p.counts[layer][what]++
	if image.Pt(x, y).In(image.Rectangle{Max: p.size}) {
		p.mark(x, y, tileColours[what])
	}
}

// mark fills a tile, or frames it where the sides show what it was and is.
func (p *Picture) mark(x, y int, c color.NRGBA) {
	p.fill(p.place(0, x, y), c)
	for i, side := range p.sides {
		p.fill(p.place(i, x, y), c)
		own, _ := color.NRGBAModel.Convert(at(x, y, side)).(color.NRGBA)
		p.fill(p.place(i, x, y).Inset(max(1, p.scale/8)), own)
	}
}

func (p *Picture) fill(r image.Rectangle, c color.NRGBA) {
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// Encode writes the picture as PNG, with the legend below it.
func (p *Picture) Encode(w io.Writer) error {
	p.legend()
	return png.Encode(w, p.img)
}

// maxLegend is how many layers the legend names.
const maxLegend = 24

// legend draws what the colours mean, and what differs in which layer.
func (p *Picture) legend() {
	var lines []string
	var totals [3]int
	for _, layer := range p.layers {
		var words []string
		for i, n := range p.counts[layer] {
			if totals[i] += n; n > 0 {
				words = append(words, fmt.Sprint(n, " ", tileWords[i]))
			}
		}
		lines = append(lines, layer+": "+strings.Join(words, ", "))
	}
	if more := len(lines) - maxLegend; more > 0 {
		lines = append(lines[:maxLegend], fmt.Sprint("and ", more, " more layers"))
	}
	if p.sides != nil {
		lines = append([]string{"left: old, right: new"}, lines...)
	}
	for i := range totals {
		lines = slices.Insert(lines, i, fmt.Sprint("   ", totals[i], " ", tileWords[i]))
	}
	width, top := p.img.Rect.Dx(), p.img.Rect.Dy()+lineHeight/2
	for _, line := range lines {
		width = max(width, textWidth(line)+2*glyphWidth)
	}
	whole := image.NewNRGBA(image.Rect(0, 0, width, top+len(lines)*lineHeight))
	draw.Draw(whole, whole.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(whole, p.img.Rect, p.img, image.Point{}, draw.Src)
	p.img = whole
	for i, line := range lines {
		at := image.Pt(glyphWidth, top+i*lineHeight)
		if i < len(tileColours) {
			p.fill(image.Rectangle{at, at.Add(image.Pt(2*glyphWidth, lineHeight-glyphZoom*2))}, tileColours[i])
		}
		p.text(at, line)
	}
}

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
