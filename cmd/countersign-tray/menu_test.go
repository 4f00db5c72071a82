package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/app/tray"
)

// drawing records what reaches the native tray.
type drawing struct{ did []string }

type drawnLine struct {
	on   *drawing
	slot tray.Slot
}

func (l drawnLine) set(text string, enabled bool) {
	l.on.did = append(l.on.did, fmt.Sprint(l.slot, " ", text, " ", enabled))
}
func (l drawnLine) hide()               { l.on.did = append(l.on.did, "hide "+string(l.slot)) }
func (d *drawing) icon(s tray.Shape)    { d.did = append(d.did, "icon "+string(s)) }
func (d *drawing) count(label string)   { d.did = append(d.did, "count "+label) }
func (d *drawing) tooltip(text string)  { d.did = append(d.did, "tooltip "+text) }
func (d *drawing) take() (did []string) { did, d.did = d.did, nil; return did }

// TestMenuTouchesWhatDiffers: each change is a message to the panel, and an open menu flickers with it.
func TestMenuTouchesWhatDiffers(t *testing.T) {
	d := &drawing{}
	m := newMenu(d, map[tray.Slot]line{tray.SlotHead: drawnLine{d, tray.SlotHead}, tray.SlotFirst: drawnLine{d, tray.SlotFirst}, tray.SlotOpen: drawnLine{d, tray.SlotOpen}})
	head := tray.Item{Slot: tray.SlotHead, Text: "1 waiting"}
	first := tray.Item{Slot: tray.SlotFirst, ID: "question/a", Text: "Bash", Enabled: true}
	open := tray.Item{Slot: tray.SlotOpen, ID: "open", Text: "Open", Enabled: true}
	for _, tt := range []struct {
		name  string
		state tray.State
		want  []string
		ids   []string // of head, first, open
	}{
		{"at first", tray.State{Shape: tray.ShapeIdle},
			[]string{"hide head", "hide first", "hide open", "icon idle", "count ", "tooltip "}, []string{"", "", ""}},
		{"a question", tray.State{Shape: tray.ShapeWaiting, Waiting: 1, Tooltip: "one", Items: []tray.Item{open, head, first, {Slot: "later", ID: "x", Enabled: true}}},
			[]string{"head 1 waiting false", "first Bash true", "open Open true", "icon waiting", "count 1", "tooltip one"}, []string{"", "question/a", "open"}},
		{"the same", tray.State{Shape: tray.ShapeWaiting, Waiting: 1, Tooltip: "one", Items: []tray.Item{head, first, open}},
			nil, []string{"", "question/a", "open"}},
		{"another with the same words", tray.State{Shape: tray.ShapeWaiting, Waiting: 1, Tooltip: "one", Items: []tray.Item{head, {Slot: tray.SlotFirst, ID: "question/b", Text: "Bash", Enabled: true}, open}},
			nil, []string{"", "question/b", "open"}},
		{"answered", tray.State{Shape: tray.ShapeIdle, Items: []tray.Item{open}},
			[]string{"hide head", "hide first", "icon idle", "count ", "tooltip "}, []string{"", "", "open"}},
		{"switched off", tray.State{Shape: tray.ShapeIdle, Items: []tray.Item{{Slot: tray.SlotOpen, ID: "open", Text: "Open"}}},
			[]string{"open Open false"}, []string{"", "", ""}},
	} {
		m.apply(tt.state)
		if diff := cmp.Diff(tt.want, d.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.ids, []string{m.id(tray.SlotHead), m.id(tray.SlotFirst), m.id(tray.SlotOpen)}); diff != "" {
			t.Errorf("%s: ids (-want +got):\n%s", tt.name, diff)
		}
	}
}
