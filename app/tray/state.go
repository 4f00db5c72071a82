package tray

import "strings"

// Shape is what the icon looks like. It tells the state without colour.
type Shape string

// The shapes.
const (
	ShapeIdle     Shape = "idle"     // nothing waits
	ShapeWaiting  Shape = "waiting"  // a dot: somebody waits for an answer
	ShapeDegraded Shape = "degraded" // a triangle: what should be enforced is not
	ShapePaused   Shape = "paused"   // bars: every new call is refused
)

// Shapes are all of them, the zero state's first.
var Shapes = []Shape{ShapeIdle, ShapeWaiting, ShapeDegraded, ShapePaused}

// State is everything the tray shows. It is complete: the last one wins, and none depends on another.
type State struct {
	Shape   Shape  `json:"shape"`
	Waiting int    `json:"waiting"`
	Tooltip string `json:"tooltip"`
	Items   []Item `json:"items"` // at most one per slot; a slot that is not named is not shown
}

// Item is one line of the menu, already in the person's language and fit to be shown.
type Item struct {
	Slot    Slot   `json:"slot"`
	ID      string `json:"id"` // what a click is reported as; "" for a line that only says something
	Text    string `json:"text"`
	Enabled bool   `json:"enabled"`
}

// The ids of lines that do the same always. A line of a question has QuestionPrefix and the question's id.
const (
	IDOpen          = "open"
	IDPauseShort    = "pause_15m"
	IDPauseLong     = "pause_1h"
	IDPauseForever  = "pause_until_resumed"
	IDResume        = "resume"
	IDProjects      = "projects"
	IDSettings      = "settings"
	IDQuit          = "quit"
	QuestionPrefix  = "question/"
	questionsInMenu = 3
)

// Event is a line that was clicked.
type Event struct{ ID string }

// Question returns the id of the question whose card the person wants to see.
func (e Event) Question() (id string, ok bool) { return strings.CutPrefix(e.ID, QuestionPrefix) }
