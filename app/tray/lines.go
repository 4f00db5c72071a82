package tray

import (
	"strconv"

	"countersign/app/i18n"
)

// Model is what the menu is made from. Names are as others gave them.
type Model struct {
	Opening  bool // the core is not there yet, or could not be started: nothing can be asked of it
	Waiting  int  // all open questions
	Newest   []Question
	Boundary Boundary
	Paused   bool // every new call is refused
}

// Question is an open question as the menu names it.
type Question struct{ ID, Agent, Tool, Project string }

// Boundary is what holds commands on this machine. The zero value says that nothing does.
type Boundary string

// The boundaries.
const (
	BoundaryEnforced    Boundary = "enforced"
	BoundaryDegraded    Boundary = "degraded"
	BoundaryUnavailable Boundary = "unavailable"
)

// Lines makes the tray's state in a language. At most nine lines stand in the first level:
//
//	2 waiting · Enforced
//	three newest questions
//	Open, Pause (a submenu) or Resume, Projects and rules, Settings, Quit
func Lines(language string, m Model) State {
	t := func(key string, args map[string]string) string { return i18n.T(language, "tray."+key, args) }
	boundary := t(m.word(), nil)
	args := map[string]string{"count": strconv.Itoa(m.Waiting), "boundary": boundary}
	state := State{Shape: m.shape(), Waiting: m.Waiting, Tooltip: t("tooltip", args)}
	add := func(slot Slot, id, text string, enabled bool) {
		state.Items = append(state.Items, Item{Slot: slot, ID: id, Text: text, Enabled: enabled})
	}

	add(SlotHead, "", t("head", args), false)
	for i, slot := range [questionsInMenu]Slot{SlotFirst, SlotSecond, SlotThird} {
		if i == len(m.Newest) {
			break
		}
		q := m.Newest[i]
		project := plain(q.Project)
		if project == "" {
			project = i18n.T(language, "notify.no_project", nil)
		}
		add(slot, QuestionPrefix+q.ID, t(q.key(), map[string]string{"agent": plain(q.Agent), "tool": plain(q.Tool), "project": project}), true)
	}
	add(SlotOpen, IDOpen, t("open", nil), true)
	if m.Paused {
		add(SlotResume, IDResume, t("resume", nil), !m.Opening)
	} else {
		add(SlotPause, "", t("pause", nil), !m.Opening)
		add(SlotPauseShort, IDPauseShort, t("pause_short", nil), !m.Opening)
		add(SlotPauseLong, IDPauseLong, t("pause_long", nil), !m.Opening)
		add(SlotPauseForever, IDPauseForever, t("pause_forever", nil), !m.Opening)
	}
	add(SlotProjects, IDProjects, t("projects", nil), !m.Opening)
	add(SlotSettings, IDSettings, t("settings", nil), true)
	add(SlotQuit, IDQuit, t("quit", nil), true)
	return state
}

// longestName bounds a name in the menu, in characters as they are shown. A menu is as wide as its longest line.
const longestName = 32

func plain(name string) string { return i18n.Plain(name, longestName) }

// key is that of the question's line. What most calls do is said in words, as on the card.
func (q Question) key() string {
	switch q.Tool {
	case "bash":
		return "question_command"
	case "write", "edit", "apply_patch":
		return "question_write"
	}
	return "question"
}

// word is the key of the one word beside the count.
func (m Model) word() string {
	switch {
	case m.Opening:
		return "opening"
	case m.Paused:
		return "paused"
	case m.Boundary == BoundaryEnforced, m.Boundary == BoundaryDegraded:
		return string(m.Boundary)
	}
	return string(BoundaryUnavailable)
}

// shape is the icon's. A person who waits for an answer comes before a lasting condition: the words still name that.
func (m Model) shape() Shape {
	switch {
	case m.Paused:
		return ShapePaused
	case m.Waiting > 0:
		return ShapeWaiting
	case m.Opening || m.Boundary == BoundaryEnforced:
		return ShapeIdle
	}
	return ShapeDegraded
}
