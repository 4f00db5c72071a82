package tray

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"countersign/app/i18n"
)

func texts(s State) (all []string) {
	for _, item := range s.Items {
		text := item.Text
		if !item.Enabled {
			text = "(" + text + ")"
		}
		if item.ID != "" {
			text += " -> " + item.ID
		}
		all = append(all, text)
	}
	return all
}

func TestLines(t *testing.T) {
	question := Question{ID: "q1", Agent: "Claude Code", Tool: "bash", Project: "payments-api"}
	tests := []struct {
		name     string
		language string
		model    Model
		shape    Shape
		want     []string
	}{
		{"waiting", i18n.English, Model{Waiting: 2, Boundary: BoundaryEnforced, Newest: []Question{question, {"q2", "Codex", "edit", ""}, {"q3", "Codex", "WebFetch", ""}}}, ShapeWaiting, []string{
			"(2 waiting · Enforced)", "Claude Code: run a command in payments-api -> question/q1", "Codex: change a file in no project -> question/q2",
			"Codex: WebFetch in no project -> question/q3",
			"Open Countersign -> open", "Pause: refuse new calls", "For 15 minutes -> pause_15m", "For 1 hour -> pause_1h", "Until resumed -> pause_until_resumed",
			"Projects and rules -> projects", "Settings -> settings", "Quit… (agents will be refused) -> quit",
		}},
		{"paused", i18n.English, Model{Boundary: BoundaryEnforced, Paused: true}, ShapePaused, []string{
			"(0 waiting · Paused)", "Open Countersign -> open", "Resume… -> resume", "Projects and rules -> projects", "Settings -> settings", "Quit… (agents will be refused) -> quit",
		}},
		{"opening", i18n.English, Model{Opening: true}, ShapeIdle, []string{
			"(0 waiting · Starting…)", "Open Countersign -> open", "(Pause: refuse new calls)", "(For 15 minutes) -> pause_15m", "(For 1 hour) -> pause_1h",
			"(Until resumed) -> pause_until_resumed", "(Projects and rules) -> projects", "Settings -> settings", "Quit… (agents will be refused) -> quit",
		}},
		{"the zero model claims no boundary", i18n.English, Model{}, ShapeDegraded, []string{
			"(0 waiting · Not enforced)", "Open Countersign -> open", "Pause: refuse new calls", "For 15 minutes -> pause_15m", "For 1 hour -> pause_1h",
			"Until resumed -> pause_until_resumed", "Projects and rules -> projects", "Settings -> settings", "Quit… (agents will be refused) -> quit",
		}},
		{"Chinese", i18n.SimplifiedChinese, Model{Waiting: 1, Boundary: BoundaryDegraded, Newest: []Question{question}, Paused: true}, ShapePaused, []string{
			"(1 个等待中 · 已暂停)", "Claude Code：在 payments-api 中运行命令 -> question/q1", "打开 Countersign -> open", "恢复… -> resume", "项目与规则 -> projects",
			"设置 -> settings", "退出…（代理将被拒绝） -> quit",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Lines(tt.language, tt.model)
			if diff := cmp.Diff(tt.want, texts(got)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if got.Shape != tt.shape {
				t.Errorf("shape %s, want %s", got.Shape, tt.shape)
			}
		})
	}
}

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		model Model
		want  Shape
	}{
		{Model{Boundary: BoundaryEnforced}, ShapeIdle},
		{Model{Boundary: BoundaryEnforced, Waiting: 1}, ShapeWaiting},
		{Model{Boundary: BoundaryDegraded}, ShapeDegraded},
		{Model{Boundary: "something new"}, ShapeDegraded},
		{Model{Boundary: BoundaryDegraded, Waiting: 1}, ShapeWaiting},
		{Model{Boundary: BoundaryEnforced, Waiting: 1, Paused: true}, ShapePaused},
	} {
		if got := tt.model.shape(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.model, got, tt.want)
		}
	}
}

// TestMenuIsBounded: whatever is asked for, at most nine lines stand in the first level, each in a slot of its own, no
// name brings more than it may, and the whole state fits into a message.
func TestMenuIsBounded(t *testing.T) {
	first := map[Slot]bool{}
	for _, place := range Layout {
		first[place.Slot] = place.Above == ""
	}
	long := strings.Repeat("\u202e", 5000)
	model := Model{Waiting: 1 << 40, Boundary: BoundaryEnforced, Newest: make([]Question, 50)}
	for i := range model.Newest {
		model.Newest[i] = Question{ID: "q", Agent: long, Tool: long, Project: long}
	}
	for _, model.Paused = range []bool{false, true} {
		for _, language := range i18n.Languages {
			state, lines, used := Lines(language, model), 0, map[Slot]bool{}
			for _, item := range state.Items {
				level, known := first[item.Slot]
				if !known || used[item.Slot] {
					t.Errorf("slot %q is unknown or used twice", item.Slot)
				}
				used[item.Slot] = true
				if level {
					lines++
				}
				if n := utf8.RuneCountInString(item.Text); n > 4*longestName {
					t.Errorf("a line has %d characters", n)
				}
			}
			if lines > 9 {
				t.Errorf("%d lines", lines)
			}
			if err := Write(new(strings.Builder), Order{State: state}); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNothingAllows: only the known ids leave the menu, and none of them answers a question.
func TestNothingAllows(t *testing.T) {
	known := map[string]bool{
		"": true, IDOpen: true, IDPauseShort: true, IDPauseLong: true, IDPauseForever: true, IDResume: true, IDProjects: true, IDSettings: true, IDQuit: true,
	}
	for _, paused := range []bool{false, true} {
		for _, item := range Lines(i18n.English, Model{Waiting: 1, Newest: []Question{{ID: "q1"}}, Paused: paused}).Items {
			_, question := Event{item.ID}.Question()
			if !known[item.ID] && !question {
				t.Errorf("the menu offers %q", item.ID)
			}
		}
	}
}

// TestNamesArePlain: an agent chose them.
func TestNamesArePlain(t *testing.T) {
	q := Question{ID: "q", Agent: "a\u3164", Tool: "b\u202e", Project: "c\nd" + strings.Repeat("e", longestName)}
	got := texts(Lines(i18n.English, Model{Waiting: 1, Newest: []Question{q}}))[1]
	if want := `a\u{3164}: b\u{202e} in c d` + strings.Repeat("e", longestName-4) + "… -> question/q"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
