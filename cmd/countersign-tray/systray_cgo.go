//go:build cgo || windows

package main

import (
	"image"
	"runtime"

	"github.com/getlantern/systray"

	"countersign/app/mark"
	"countersign/app/tray"
)

// show shows the tray until the conversation is over. It must be called on the main goroutine.
func show(c *conversation) int {
	systray.Run(func() { c.hold(nativeMenu(c), systray.Quit) }, nil)
	c.leave()
	return c.exitCode()
}

// nativeMenu makes every line that there will ever be. All are made before one is hidden, since Windows finds a submenu's
// parent among those that are shown.
func nativeMenu(c *conversation) *menu {
	native, lines := map[tray.Slot]*systray.MenuItem{}, map[tray.Slot]line{}
	for _, place := range tray.Layout {
		if place.Separated {
			systray.AddSeparator()
		}
		var item *systray.MenuItem
		if above := native[place.Above]; above != nil {
			item = above.AddSubMenuItem(unnamed, "")
		} else {
			item = systray.AddMenuItem(unnamed, "")
		}
		native[place.Slot], lines[place.Slot] = item, nativeLine{item}
	}
	m := newMenu(nativeCanvas{}, lines)
	m.apply(tray.State{Shape: tray.ShapeIdle})
	for slot, item := range native {
		go func() { // as long as the process lives: the library never closes the channel
			for range item.ClickedCh {
				if id := m.id(slot); id != "" {
					c.clicked(id)
				}
			}
		}()
	}
	return m
}

// unnamed is a line's text until it has one. An empty one makes a separator on some panels.
const unnamed = "…"

type nativeLine struct{ item *systray.MenuItem }

func (l nativeLine) set(text string, enabled bool) {
	l.item.SetTitle(text) // shows it, too
	if enabled != !l.item.Disabled() {
		if enabled {
			l.item.Enable()
		} else {
			l.item.Disable()
		}
	}
}

func (l nativeLine) hide() { l.item.Hide() }

type nativeCanvas struct{}

func (nativeCanvas) icon(shape tray.Shape) {
	if bytes, ok := icons[shape]; ok {
		systray.SetTemplateIcon(bytes, bytes)
	}
}
func (nativeCanvas) count(label string)  { systray.SetTitle(label) }
func (nativeCanvas) tooltip(text string) { systray.SetTooltip(text) }

const (
	panelPixels = 48 // twice what most panels show: they scale down
	macPixels   = 32 // the library shows 16 points
)

var windowsPixels = []int{16, 20, 24, 32, 48}

var badges = map[tray.Shape]mark.Badge{
	tray.ShapeIdle: mark.Plain, tray.ShapeWaiting: mark.Dot, tray.ShapeDegraded: mark.Triangle, tray.ShapePaused: mark.Bars,
}

// icons are drawn once and kept: the library hands their memory to C, which reads it later.
var icons = func() map[tray.Shape][]byte {
	all := map[tray.Shape][]byte{}
	for shape, badge := range badges {
		switch runtime.GOOS {
		case "windows":
			var sizes []*image.NRGBA
			for _, pixels := range windowsPixels {
				sizes = append(sizes, mark.Tray(badge, mark.Outlined, pixels))
			}
			all[shape] = mark.ICO(sizes...)
		case "darwin":
			all[shape] = mark.PNG(mark.Tray(badge, mark.Template, macPixels))
		default:
			all[shape] = mark.PNG(mark.Tray(badge, mark.Outlined, panelPixels))
		}
	}
	return all
}()
