// Package mark draws Countersign's mark: a ring with a tick in it, and in the tray a badge that tells the state by its
// shape. Everything is computed from a few numbers, so that each size is drawn and none is scaled.
package mark

import (
	"image"
	"image/color"
	"math"
)

// Badge is what the tray's mark carries at its lower right.
type Badge string

// The badges.
const (
	Plain    Badge = "plain"
	Dot      Badge = "dot"
	Triangle Badge = "triangle"
	Bars     Badge = "bars"
)

// Style is how the tray's mark is coloured.
type Style string

// The styles.
const (
	Outlined Style = "outlined" // light with a dark edge: a panel may be light or dark, and does not say which
	Template Style = "template" // black; the system colours it (macOS)
)

var (
	dark   = color.NRGBA{0x1f, 0x23, 0x28, 0xff}
	light  = color.NRGBA{0xff, 0xfd, 0xf9, 0xff}
	accent = color.NRGBA{0x2f, 0x4b, 0x8f, 0xff}
	black  = color.NRGBA{0, 0, 0, 0xff}
	// The badges differ in shape; the colours only help.
	badgeColors = map[Badge]color.NRGBA{Dot: {0x7d, 0xa2, 0xff, 0xff}, Triangle: {0xf2, 0xb0, 0x3a, 0xff}, Bars: light}
)

// The tray's mark on a square of side 1, y downwards.
const (
	edge      = 0.045 // the dark edge
	gap       = 0.06  // between mark and badge
	trayRing  = 0.385 // radius of the middle of the stroke
	trayWidth = 0.125
)

var (
	middle   = point{0.5, 0.5}
	trayTick = []point{{0.335, 0.5}, {0.45, 0.615}, {0.665, 0.385}}
	// The badges' middle is where the ring is lowest on the right.
	dotAt         = point{0.735, 0.735}
	triangleAt    = [3]point{{0.725, 0.53}, {0.93, 0.91}, {0.52, 0.91}}
	barsAt        = [2][2]point{{{0.63, 0.585}, {0.63, 0.885}}, {{0.845, 0.585}, {0.845, 0.885}}}
	dotRadius     = 0.215
	triangleRound = 0.035
	barHalf       = 0.075
)

// Tray draws the tray's mark in pixels.
func Tray(badge Badge, style Style, size int) *image.NRGBA {
	body := union(ring(middle, trayRing, trayWidth/2), line(trayTick, trayWidth/2))
	sign, color := badgeOf(badge), badgeColors[badge]
	if sign != nil {
		body = without(body, grown(sign, gap))
	}
	if style == Template {
		if sign != nil {
			body = union(body, sign)
		}
		return draw(size, layer{body, black})
	}
	// The ring's inside is dark too: on a light panel the tick is read against it.
	layers := []layer{{disc(middle, trayRing+trayWidth/2+edge), dark}, {body, light}}
	if sign != nil {
		layers = append(layers, layer{grown(sign, edge), dark}, layer{sign, color})
	}
	return draw(size, layers...)
}

func badgeOf(badge Badge) distance {
	switch badge {
	case Dot:
		return disc(dotAt, dotRadius)
	case Triangle:
		return triangle(triangleAt, triangleRound)
	case Bars:
		return union(line(barsAt[0][:], barHalf), line(barsAt[1][:], barHalf))
	}
	return nil
}

// The program's icon: the mark on a tile.
const (
	tileHalf  = 0.46
	tileRound = 0.2
	appRing   = 0.27
	appWidth  = 0.085
)

var appTick = []point{{0.385, 0.505}, {0.465, 0.585}, {0.62, 0.42}}

// App draws the program's icon in pixels.
func App(size int) *image.NRGBA {
	return draw(size,
		layer{tile(middle, tileHalf, tileRound), accent},
		layer{union(ring(middle, appRing, appWidth/2), line(appTick, appWidth/2)), light})
}

// layer is a shape in one colour.
type layer struct {
	shape distance
	color color.NRGBA
}

// draw paints the layers one over the other. A pixel is covered by how far its middle lies inside.
func draw(size int, layers ...layer) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			at := point{(float64(x) + 0.5) / float64(size), (float64(y) + 0.5) / float64(size)}
			var r, g, b, a float64 // premultiplied
			for _, l := range layers {
				cover := min(max(0.5-l.shape(at)*float64(size), 0), 1)
				r, g, b = float64(l.color.R)*cover+r*(1-cover), float64(l.color.G)*cover+g*(1-cover), float64(l.color.B)*cover+b*(1-cover)
				a = cover + a*(1-cover)
			}
			if a > 0 {
				img.SetNRGBA(x, y, color.NRGBA{byteOf(r / a), byteOf(g / a), byteOf(b / a), byteOf(255 * a)})
			}
		}
	}
	return img
}

func byteOf(v float64) uint8 { return uint8(math.Round(min(max(v, 0), 255))) }
