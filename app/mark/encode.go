package mark

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
)

// PNG encodes an image.
func PNG(img image.Image) []byte {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything, and the images are ours
	}
	return b.Bytes()
}

// largestInIcon is the side that an icon file can name, in pixels.
const largestInIcon = 256

// ICO wraps images of different sizes, at most 256 pixels wide, into a Windows icon. Each is an uncompressed 32-bit
// bitmap: readers of small sizes do not all take PNG. The format: "Icons", MSDN 1995, and BITMAPINFOHEADER.
func ICO(images ...*image.NRGBA) []byte {
	const header, entry, info = 6, 16, 40
	var directory, bitmaps bytes.Buffer
	put := func(b *bytes.Buffer, values ...any) {
		for _, v := range values {
			_ = binary.Write(b, binary.LittleEndian, v) // a buffer takes everything
		}
	}
	put(&directory, uint16(0), uint16(1), uint16(len(images)))
	for _, img := range images {
		side := img.Bounds().Dx()
		if side > largestInIcon || img.Bounds().Dy() != side {
			panic(fmt.Sprintf("an icon of %v", img.Bounds()))
		}
		maskRow := (side + 31) / 32 * 4
		length := info + side*side*4 + maskRow*side
		put(&directory, uint8(side%largestInIcon), uint8(side%largestInIcon), uint8(0), uint8(0), uint16(1), uint16(32),
			uint32(length), uint32(header+entry*len(images)+bitmaps.Len()))
		put(&bitmaps, uint32(info), int32(side), int32(2*side), uint16(1), uint16(32), make([]byte, 24))
		mask := make([]byte, maskRow*side)
		for row := range side { // from the bottom up
			y := side - 1 - row
			for x := range side {
				c := img.NRGBAAt(x, y)
				bitmaps.Write([]byte{c.B, c.G, c.R, c.A})
				if c.A == 0 {
					mask[row*maskRow+x/8] |= 0x80 >> (x % 8)
				}
			}
		}
		bitmaps.Write(mask)
	}
	return append(directory.Bytes(), bitmaps.Bytes()...)
}

// SVG is the program's icon as a drawing.
func SVG() string {
	var tick strings.Builder
	for i, p := range appTick {
		fmt.Fprintf(&tick, "%s%g %g", map[bool]string{true: "M", false: "L"}[i == 0], 1000*p.x, 1000*p.y)
	}
	hex := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	const from, side = 500 - 1000*tileHalf, 2000 * tileHalf
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000">
<rect x="%g" y="%g" width="%g" height="%g" rx="%g" fill="%s"/>
<g fill="none" stroke="%s" stroke-width="%g" stroke-linecap="round" stroke-linejoin="round"><circle cx="500" cy="500" r="%g"/><path d="%s"/></g>
</svg>
`, from, from, side, side, 1000*tileRound, hex(accent), hex(light), 1000*appWidth, 1000*appRing, tick.String())
}
