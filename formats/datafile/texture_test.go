package datafile

import (
	"image"
	"math"
	"testing"
)

// TestTexture draws quads of 64×64 pixels with an image at 0, 0.
func TestTexture(t *testing.T) {
	white := [4]int32{255, 255, 255, 255}
	flag := image.NewNRGBA(image.Rect(0, 0, 2, 1)) // green, and blue of which half is seen
	copy(flag.Pix, []byte{0, 255, 0, 255, 0, 0, 255, 128})
	fine := image.NewNRGBA(image.Rect(0, 0, 1024, 1024)) // columns of black and white
	for i := range fine.Pix {
		fine.Pix[i] = 255 * byte(i/4%2)
		if i%4 == 3 {
			fine.Pix[i] = 255
		}
	}
	under := func(part float64, ground byte) byte { return byte(math.Round(float64(ground) * (1 - part))) }
	const half = 128. / 255
	faint := [3]byte{under(half, previewGround[0]), under(half, previewGround[1]), byte(math.Round(255*half + float64(previewGround[2])*(1-half)))}
	green, gray := [3]byte{0, 255, 0}, [3]byte{127, 127, 127}
	for _, c := range []struct {
		name  string
		image *image.NRGBA
		times int32
		color [4]int32
		want  map[image.Point][3]byte
	}{
		{"once", flag, 1, white, map[image.Point][3]byte{{0, 0}: green, {31, 63}: green, {32, 0}: faint, {63, 63}: faint}},
		{"it repeats", flag, 2, white, map[image.Point][3]byte{{15, 0}: green, {16, 0}: faint, {31, 0}: faint, {32, 0}: green, {63, 63}: faint}},
		{"it repeats to the left", flag, -1, white, map[image.Point][3]byte{{0, 0}: faint, {32, 0}: green}},
		{"multiplied", flag, 1, [4]int32{255, 128, 255, 255}, map[image.Point][3]byte{{0, 0}: {0, 128, 0}}},
		{"drawn smaller it is a mean", fine, 1, white, map[image.Point][3]byte{{0, 0}: gray, {31, 40}: gray, {63, 63}: gray}},
		{"all of it in no pixel", fine, 1 << 20, white, map[image.Point][3]byte{{5, 5}: gray}},
	} {
		q := quad(0, 0, 128, 128, c.color, c.color)
		for k := range q.Texcoords {
			q.Texcoords[k] = [2]int32{int32(k%2) * c.times * fixedPoint, int32(k/2) * c.times * fixedPoint}
		}
		pictured, err := newTexture(t.Context(), nil, c.image)
		if err != nil {
			t.Fatal(err)
		}
		canvas := newCanvas(10, 10, maxBand)
		canvas.next()
		plain := func(*Quad) [4]float64 { return [4]float64{1, 1, 1, 1} }
		if err := newSky(canvas).draw(t.Context(), &Group{Parallax: [2]int32{100, 100}}, []Quad{q}, plain, pictured); err != nil {
			t.Fatal(err)
		}
		wantPixels(t, c.name, canvas, c.want)
	}
}
