package mark

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"
)

var allBadges = []Badge{Plain, Dot, Triangle, Bars}

// differing counts the pixels of two pictures of the tray, on a panel of that grey, that a person can tell apart.
func differing(a, b *image.NRGBA, panel float64) int {
	n := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			if math.Abs(onPanel(a.NRGBAAt(x, y), panel)-onPanel(b.NRGBAAt(x, y), panel)) > 60 {
				n++
			}
		}
	}
	return n
}

// onPanel is the lightness of a colour on a panel, 0 to 255.
func onPanel(c color.NRGBA, panel float64) float64 {
	alpha := float64(c.A) / 255
	return (0.3*float64(c.R)+0.59*float64(c.G)+0.11*float64(c.B))*alpha + panel*(1-alpha)
}

// TestBadgesDiffer: in grey, at the size of a small panel, light or dark, no two states look alike.
func TestBadgesDiffer(t *testing.T) {
	const size, enough = 22, 12
	for _, style := range []Style{Outlined, Template} {
		for name, panel := range map[string]float64{"light panel": 240, "dark panel": 32} {
			if style == Template && name == "dark panel" {
				continue // the system turns it white
			}
			for i, a := range allBadges {
				for _, b := range allBadges[:i] {
					if n := differing(Tray(a, style, size), Tray(b, style, size), panel); n < enough {
						t.Errorf("%s, %s: %s and %s differ in %d pixels", style, name, a, b, n)
					}
				}
			}
		}
	}
}

// TestMarkIsSeen: the mark stands out from the panel it is on, whatever its colour.
func TestMarkIsSeen(t *testing.T) {
	for _, panel := range []float64{0, 32, 128, 240, 255} {
		if n := differing(Tray(Plain, Outlined, 22), image.NewNRGBA(image.Rect(0, 0, 22, 22)), panel); n < 60 {
			t.Errorf("panel %v: %d pixels stand out", panel, n)
		}
	}
}

func TestTemplateIsBlack(t *testing.T) {
	img := Tray(Triangle, Template, 32)
	for i := 0; i < len(img.Pix); i += 4 {
		if img.Pix[i]|img.Pix[i+1]|img.Pix[i+2] != 0 {
			t.Fatalf("a pixel is %v", img.Pix[i:i+4])
		}
	}
}

func TestPNGDecodes(t *testing.T) {
	for _, size := range []int{16, 22, 48, 512} {
		img, err := png.Decode(bytes.NewReader(PNG(App(size))))
		if err != nil || img.Bounds() != image.Rect(0, 0, size, size) {
			t.Errorf("%d: %v, %v", size, img.Bounds(), err)
		}
	}
}

func TestICO(t *testing.T) {
	icon := ICO(App(16), App(20), App(256))
	le := binary.LittleEndian
	if le.Uint16(icon) != 0 || le.Uint16(icon[2:]) != 1 || le.Uint16(icon[4:]) != 3 {
		t.Fatalf("header % x", icon[:6])
	}
	end := 6 + 3*16
	for i, side := range []int{16, 20, 256} {
		entry := icon[6+16*i:]
		if int(entry[0]) != side%256 || int(entry[1]) != side%256 {
			t.Errorf("entry %d says %d by %d", i, entry[0], entry[1])
		}
		length, offset := int(le.Uint32(entry[8:])), int(le.Uint32(entry[12:]))
		if offset != end {
			t.Errorf("entry %d begins at %d, the one before ends at %d", i, offset, end)
		}
		end = offset + length
		bitmap := icon[offset:end]
		if le.Uint32(bitmap) != 40 || int(le.Uint32(bitmap[4:])) != side || int(le.Uint32(bitmap[8:])) != 2*side || le.Uint16(bitmap[14:]) != 32 {
			t.Errorf("entry %d: bitmap header % x", i, bitmap[:40])
		}
		middle := bitmap[40+4*(side*(side/2-1)+side/2):] // side/2 from the top
		if got, want := (color.NRGBA{middle[2], middle[1], middle[0], middle[3]}), App(side).NRGBAAt(side/2, side/2); got != want {
			t.Errorf("entry %d: the pixel in the middle is %v, not %v", i, got, want)
		}
	}
	if end != len(icon) {
		t.Errorf("%d bytes are left over", len(icon)-end)
	}
}
