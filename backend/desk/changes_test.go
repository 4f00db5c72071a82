package desk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// proposeByAgent admits a call that the agent executes itself.
func (f *fixture) proposeByAgent(tool string, args map[string]any) wire.CallStatus {
	f.t.Helper()
	in := f.admission(tool+"-1", tool, args)
	in.Runs = wire.RunsAgent
	var status wire.CallStatus
	f.must(f.agent, wire.ActionAdmitCall, in, &status)
	return status
}

func (f *fixture) write(name, content string) string {
	f.t.Helper()
	path := filepath.Join(f.project, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fixture) changes(q wire.Question) []wire.FileChange {
	f.t.Helper()
	var out wire.Changes
	f.must(f.desk.Owner(), wire.ActionGetChanges, wire.GetChanges{Question: q.ID}, &out)
	return out.Files
}

func TestChanges(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	edit := func(old, new string) map[string]any {
		return map[string]any{"file_path": "a.txt", "old_string": old, "new_string": new}
	}
	line := func(op, text string) wire.DiffLine { return wire.DiffLine{Op: op, Text: text} }
	tests := []struct {
		name, tool string
		before     string // "" for no file
		args       map[string]any
		want       wire.FileChange
	}{
		{"an edit", "edit", ten, edit("5", "five"), wire.FileChange{
			Kind: wire.ChangeEdit, Added: 1, Removed: 1, Before: 21, After: 24,
			Hunks: []wire.DiffHunk{{OldStart: 2, NewStart: 2, Lines: []wire.DiffLine{
				line(" ", "2"), line(" ", "3"), line(" ", "4"), line("-", "5"), line("+", "five"), line(" ", "6"), line(" ", "7"), line(" ", "8"),
			}}},
		}},
		{"a new file", "write", "", map[string]any{"file_path": "a.txt", "content": "x\n@@ -1,1 +1,1 @@\n"}, wire.FileChange{
			Kind: wire.ChangeCreate, Added: 2, Before: -1, After: 18,
			Hunks: []wire.DiffHunk{{OldStart: 0, NewStart: 1, Lines: []wire.DiffLine{line("+", "x"), line("+", "@@ -1,1 +1,1 @@")}}},
		}},
		{"a whole file", "write", "a\nb", map[string]any{"file_path": "a.txt", "content": "a\nb\n"}, wire.FileChange{
			Kind: wire.ChangeEdit, Added: 1, Removed: 1, Before: 3, After: 4,
			Hunks: []wire.DiffHunk{{OldStart: 1, NewStart: 1, Lines: []wire.DiffLine{line(" ", "a"), {Op: "-", Text: "b", NoNewline: true}, line("+", "b")}}},
		}},
		{"the same", "write", "a\n", map[string]any{"file_path": "a.txt", "content": "a\n"}, wire.FileChange{Kind: wire.ChangeEdit, Before: 2, After: 2}},
		{"line ends of Windows", "edit", "a\r\nb\r\n", edit("b", "c"), wire.FileChange{
			Kind: wire.ChangeEdit, Added: 1, Removed: 1, Before: 6, After: 6,
			Hunks: []wire.DiffHunk{{OldStart: 1, NewStart: 1, Lines: []wire.DiffLine{line(" ", "a"), line("-", "b"), line("+", "c")}}},
		}},
		{"line ends that change", "write", "a\r\n", map[string]any{"file_path": "a.txt", "content": "a\n"}, wire.FileChange{
			Kind: wire.ChangeEdit, Added: 1, Removed: 1, Before: 3, After: 2,
			Hunks: []wire.DiffHunk{{OldStart: 1, NewStart: 1, Lines: []wire.DiffLine{line("-", "a\r"), line("+", "a")}}},
		}},
		{"several edits of one file", "MultiEdit", ten, map[string]any{"file_path": "a.txt", "edits": []map[string]any{
			{"old_string": "1\n2", "new_string": "one\n2"}, {"old_string": "one", "new_string": "uno"},
		}}, wire.FileChange{
			Kind: wire.ChangeEdit, Added: 1, Removed: 1, Before: 21, After: 23,
			Hunks: []wire.DiffHunk{{OldStart: 1, NewStart: 1, Lines: []wire.DiffLine{
				line("-", "1"), line("+", "uno"), line(" ", "2"), line(" ", "3"), line(" ", "4"),
			}}},
		}},
		{"no match", "edit", ten, edit("eleven", "x"), wire.FileChange{Kind: wire.ChangeFailed, Problem: "edit_no_match", Before: 21, After: -1}},
		{"too many matches", "edit", "a\na\n", edit("a", "x"), wire.FileChange{Kind: wire.ChangeFailed, Problem: "edit_ambiguous", Before: 4, After: -1}},
		{"no file", "edit", "", edit("a", "x"), wire.FileChange{Kind: wire.ChangeFailed, Problem: "file_missing", Before: -1, After: -1}},
		{"another agent's arguments", "str_replace", "a\n", map[string]any{"path": "a.txt", "old_str": "a", "new_str": "b"}, wire.FileChange{
			Kind: wire.ChangeFailed, Problem: "invalid_arguments", Before: 2, After: -1,
		}},
		{"no text", "write", "a\x00b", map[string]any{"file_path": "a.txt", "content": "a"}, wire.FileChange{Kind: wire.ChangeBinary, Before: 3, After: 1}},
		{"not UTF-8", "edit", "a\xff\nb", edit("b", "c"), wire.FileChange{Kind: wire.ChangeBinary, Before: 4, After: 4}},
		{"a large file", "write", strings.Repeat("x", 1<<20+1), map[string]any{"file_path": "a.txt", "content": "a"}, wire.FileChange{
			Kind: wire.ChangeLarge, Before: 1<<20 + 1, After: 1,
		}},
		{"a large result", "write", "", map[string]any{"file_path": "a.txt", "content": strings.Repeat("x", 1<<20+1)}, wire.FileChange{
			Kind: wire.ChangeLarge, Before: -1, After: 1<<20 + 1,
		}},
		{"too many lines", "write", "", map[string]any{"file_path": "a.txt", "content": strings.Repeat("x\n", 4001)}, wire.FileChange{
			Kind: wire.ChangeLarge, Added: 4001, Before: -1, After: 8002,
		}},
		{"too much for a message", "write", "", map[string]any{"file_path": "a.txt", "content": strings.Repeat("\x01", 400<<10)}, wire.FileChange{
			Kind: wire.ChangeLarge, Added: 1, Before: -1, After: 400 << 10,
		}},
	}
	f := newFixture(t, "")
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(f.project, "a.txt")
			_ = os.Remove(path)
			if tt.before != "" {
				f.write("a.txt", tt.before)
			}
			in := f.admission(t.Name()[:min(len(t.Name()), 60)]+string(rune('a'+i)), tt.tool, tt.args)
			in.Runs = wire.RunsAgent
			var status wire.CallStatus
			f.must(f.agent, wire.ActionAdmitCall, in, &status)
			tt.want.Path = path
			if diff := cmp.Diff([]wire.FileChange{tt.want}, f.changes(f.only())); diff != "" {
				t.Error(diff)
			}
			f.must(f.agent, wire.ActionCancelCall, wire.CallRef{Call: status.Call}, nil)
		})
	}
}

func TestChangesKnowTheApprovedFile(t *testing.T) {
	// A card whose diff is of another file than was approved shows what will never happen.
	f := newFixture(t, "")
	path := f.write("a.txt", "a\nb\n")
	f.propose("edit", map[string]any{"file_path": "a.txt", "old_string": "b", "new_string": "c"})
	q := f.only()
	if got := f.changes(q); len(got) != 1 || got[0].Stale || got[0].Added != 1 {
		t.Fatalf("%+v", got)
	}
	f.write("a.txt", "a\nb\nd\n")
	if got := f.changes(q); len(got) != 1 || !got[0].Stale || got[0].Kind != wire.ChangeEdit || got[0].Before != 6 {
		t.Errorf("a changed file: %+v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := f.changes(q); len(got) != 1 || !got[0].Stale || got[0].Problem != "file_missing" {
		t.Errorf("a missing file: %+v", got)
	}
	f.write("other.txt", "a\nb\n")
	if err := os.Symlink("other.txt", path); err != nil {
		t.Fatal(err)
	}
	if got := f.changes(q); len(got) != 1 || !got[0].Stale || got[0].Problem != "other_file" || len(got[0].Hunks) != 0 {
		t.Errorf("a link to another file: %+v", got)
	}
}

func TestChangesAreOfFilesOnly(t *testing.T) {
	f := newFixture(t, "")
	f.proposeByAgent("apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.txt\n*** End Patch"})
	got := f.changes(f.only())
	if len(got) != 2 || got[0].Kind != wire.ChangeFailed || got[0].Problem != "change_unknown" || got[1].Path != filepath.Join(f.project, "b.txt") {
		t.Errorf("a patch: %+v", got)
	}
	f.boxed()
	f.bash("touch x")
	for _, q := range f.questions() {
		if q.Tool == "bash" {
			if got := f.changes(q); got == nil || len(got) != 0 {
				t.Errorf("a command: %+v, want an empty list", got)
			}
		}
	}
	if code := f.do(f.desk.Owner(), wire.ActionGetChanges, wire.GetChanges{Question: "nothing"}, nil); code == "" {
		t.Error("changes of no question")
	}
	if code := f.do(f.agent, wire.ActionGetChanges, wire.GetChanges{Question: f.questions()[0].ID}, nil); code != "agent_not_allowed" {
		t.Errorf("an agent reads changes: %q", code)
	}
}

func TestCardNamesWhatIsAboveAndWhatRuns(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	root := f.agent.Peer.Chain[0]
	f.agent.Peer.Chain = []wire.Process{
		root, {PID: 5, Exe: "/usr/bin/zsh (deleted)"}, {PID: 4, Name: strings.Repeat("ü", 40)}, {PID: 3}, {PID: 2, Name: "d"}, {PID: 1, Name: "init"},
	}
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	f.write("sub/a.sh", "true\n")
	f.write("b.sh", "true\n")
	f.bash("ls && cd sub && sh a.sh ../b.sh")
	var card desk.Card
	if err := json.Unmarshal(f.only().Detail, &card); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"zsh", strings.Repeat("ü", 32), "?", "d"}, card.Chain); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b.sh", "sub/a.sh"}, sorted(card.Runs)); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{"ls", "cd sub", "sh a.sh ../b.sh"} {
		if p := card.Parts[i]; card.Command[p.Start:p.End] != want {
			t.Errorf("part %d stands at %d:%d", i, p.Start, p.End)
		}
	}
}
