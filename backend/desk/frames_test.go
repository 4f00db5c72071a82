package desk_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// Sessions were published as the desk keeps them, not as the wire has them: a client met names it did not know, and missed
// some that it did. Every frame is what its name says, to the last field.
func TestFramesAreWhatTheyAreRegisteredAs(t *testing.T) {
	f := newFixture(t, `allow = ["write(ok.txt)"]`)
	sub, err := f.desk.Subscribe(f.desk.Owner(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Cancel()
	owner := f.desk.Owner()
	f.ask("a.txt")
	q := f.only()
	f.allow(q, 1, "")
	f.ask("b.txt")
	q = f.only()
	f.clock.advance(time.Minute)
	f.must(owner, wire.ActionExtendQuestion, wire.ExtendQuestion{ID: q.ID, Version: q.Version}, nil)
	f.must(owner, wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version}, nil)
	f.propose("Write", map[string]any{"file_path": filepath.Join(f.home, "cs", "state", "x"), "content": "x"}) // what is ours: a security event
	f.must(owner, wire.ActionAddRule, wire.NewPermissionRule{List: "deny", Rule: "bash(x)", Scope: "global"}, nil)
	f.must(owner, wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: q.Session, Mode: "plan"}, nil)
	f.must(owner, wire.ActionPauseSession, wire.PauseSession{Session: q.Session}, nil)
	f.must(owner, wire.ActionPauseDesk, wire.PauseDesk{Seconds: 60}, nil)
	f.must(owner, wire.ActionPauseDesk, wire.PauseDesk{}, nil)
	f.must(owner, wire.ActionOpenLink, wire.OpenLink{URL: "countersign://session/" + q.Session}, nil)
	f.must(owner, wire.ActionSetPreferences, wire.Preferences{Language: "en", Theme: "light"}, nil)

	types := desk.FrameTypes()
	seen := map[string]bool{}
	for limit := time.After(20 * time.Second); !seen[wire.FramePreferences]; {
		select {
		case frame := <-sub.Frames:
			seen[frame.Frame] = true
			typ, ok := types[frame.Frame]
			if !ok {
				t.Errorf("frame %q is not registered", frame.Frame)
				continue
			}
			dec := json.NewDecoder(bytes.NewReader(frame.Data))
			dec.DisallowUnknownFields()
			into := reflect.New(typ)
			if err := dec.Decode(into.Interface()); err != nil {
				t.Errorf("%s: %v\n%s", frame.Frame, err, frame.Data)
				continue
			}
			back, err := json.Marshal(into.Interface())
			if err != nil || !bytes.Equal(back, frame.Data) {
				t.Errorf("%s says %s, and read as its type it says %s", frame.Frame, frame.Data, back)
			}
		case <-limit:
			t.Fatalf("seen only %v", seen)
		}
	}
	for name := range types {
		switch name {
		case wire.FrameReceiptIssued: // of a command that ran
		default:
			if !seen[name] {
				t.Errorf("%s was not published", name)
			}
		}
	}
}

// Every name that the wire has is registered: a frame with its type, an action unless the server itself answers it.
func TestEverythingOnTheWireIsRegistered(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../wire/actions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{wire.ActionShutdown: true}
	for _, a := range desk.Registered() {
		known[a.Name] = true
	}
	frames := desk.FrameTypes()
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		switch name := spec.Names[0].Name; {
		case strings.HasPrefix(name, "Action") && !known[value]:
			t.Errorf("action %q is not registered", value)
		case strings.HasPrefix(name, "Frame") && frames[value] == nil:
			t.Errorf("frame %q has no type", value)
		}
		return true
	})
}
