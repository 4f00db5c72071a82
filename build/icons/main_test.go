package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// nearly is how far a drawn pixel may be from the committed one: processors that fuse multiplication and addition round
// differently, and another Go may compress differently.
const nearly = 2

func TestCommittedIconsAreCurrent(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v (go run ./build/icons draws it)", err)
			continue
		}
		if !same(t, name, got, want) {
			t.Errorf("%s is not what go run ./build/icons draws", name)
		}
	}
}

func same(t *testing.T, name string, got, want []byte) bool {
	t.Helper()
	if filepath.Ext(name) == ".png" {
		got, want = pixels(t, name, got), pixels(t, name, want)
	}
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if d := int(got[i]) - int(want[i]); d < -nearly || d > nearly {
			return false
		}
	}
	return true
}

func pixels(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var all []byte
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, a := img.At(x, y).RGBA()
			all = append(all, byte(r>>8), byte(g>>8), byte(b>>8), byte(a>>8))
		}
	}
	return all
}
