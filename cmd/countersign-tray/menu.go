package main

import (
	"strconv"
	"strings"
	"sync"

	"countersign/app/tray"
)

// line is one line of the native menu, which was made at the start and is never removed.
type line interface {
	set(text string, enabled bool) // may show a line that was hidden
	hide()
}

// canvas is the native icon.
type canvas interface {
	icon(tray.Shape)
	count(string) // beside the icon, where there is such a place
	tooltip(string)
}

// menu brings the native menu to a state, touching only what differs: each change is a message to the panel, and a menu
// that is open flickers with it.
type menu struct {
	canvas canvas
	lines  map[tray.Slot]line

	now     map[tray.Slot]tray.Item // what is shown; a slot that is not in it is hidden
	shape   tray.Shape
	label   string
	tip     string
	started bool

	mu  sync.Mutex // guards ids
	ids map[tray.Slot]string
}

func newMenu(c canvas, lines map[tray.Slot]line) *menu {
	return &menu{canvas: c, lines: lines, now: map[tray.Slot]tray.Item{}, ids: map[tray.Slot]string{}}
}

// apply implements display. Slots and shapes it does not know are left out.
func (m *menu) apply(s tray.State) {
	want, ids := map[tray.Slot]tray.Item{}, map[tray.Slot]string{}
	for _, item := range s.Items {
		if m.lines[item.Slot] == nil {
			continue
		}
		want[item.Slot] = item
		if item.Enabled {
			ids[item.Slot] = item.ID
		}
	}
	// A line first stops meaning what it meant, and says something else after that: a click in between does nothing.
	m.mu.Lock()
	for slot, id := range m.ids {
		if ids[slot] != id {
			delete(m.ids, slot)
		}
	}
	m.mu.Unlock()
	for _, place := range tray.Layout {
		item, wanted := want[place.Slot]
		was, there := m.now[place.Slot]
		switch {
		case m.lines[place.Slot] == nil:
		case wanted && (!there || was.Text != item.Text || was.Enabled != item.Enabled):
			m.lines[place.Slot].set(plainLabel(item.Text), item.Enabled)
		case !wanted && (there || !m.started):
			m.lines[place.Slot].hide()
		}
	}
	m.mu.Lock()
	m.ids = ids
	m.mu.Unlock()

	label := ""
	if s.Waiting > 0 {
		label = strconv.Itoa(s.Waiting)
	}
	if !m.started || s.Shape != m.shape {
		m.canvas.icon(s.Shape)
	}
	if !m.started || label != m.label {
		m.canvas.count(label)
	}
	if !m.started || s.Tooltip != m.tip {
		m.canvas.tooltip(cString(s.Tooltip))
	}
	m.now, m.shape, m.label, m.tip, m.started = want, s.Shape, label, s.Tooltip, true
}

// id is what a click into a slot means now; "" means nothing.
func (m *menu) id(slot tray.Slot) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[slot]
}

// cString cuts what C would cut: a text with a NUL does not even reach Windows.
func cString(text string) string {
	text, _, _ = strings.Cut(text, "\x00")
	return text
}
