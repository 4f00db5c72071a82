package desk_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/backend/approval"
	"countersign/backend/desk"
	"countersign/backend/pathid"
	"countersign/backend/state"
	"countersign/backend/wire"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// trialDirs are the directories of test requests that lie about.
func trialDirs(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(os.TempDir(), "countersign-test-*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// ownTemp gives a test a temporary directory of its own, so that it sees its own leftovers only.
func (f *fixture) ownTemp() {
	f.t.Helper()
	dir := filepath.Join(f.home, "tmp")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.t.Setenv("TMPDIR", dir)
}

func (f *fixture) testRequest() string {
	f.t.Helper()
	var ref wire.CallRef
	f.must(f.desk.Owner(), wire.ActionTestRequest, wire.TestRequest{}, &ref)
	return ref.Call
}

// until waits for something that happens in the desk's own time.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 400 {
		if ok() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("this did not come: " + what)
}

func (f *fixture) sessions(ended bool) []wire.Session {
	f.t.Helper()
	var list wire.Sessions
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{Ended: ended}, &list)
	return list.Sessions
}

func (f *fixture) callOf(id string) wire.Call {
	f.t.Helper()
	for _, s := range f.sessions(true) {
		var list wire.Calls
		f.must(f.desk.Owner(), wire.ActionListCalls, wire.ListCalls{Session: s.ID}, &list)
		for _, c := range list.Calls {
			if c.ID == id {
				return c
			}
		}
	}
	f.t.Fatalf("no call %s", id)
	return wire.Call{}
}

// gone waits until the test request left nothing.
func (f *fixture) gone() {
	f.t.Helper()
	until(f.t, "the end of the test request", func() bool { return len(f.sessions(false)) == 0 && len(trialDirs(f.t)) == 0 })
}

func TestTestRequestGoesTheWholeWay(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	f.ownTemp()
	call := f.testRequest()
	if again := f.testRequest(); again != call {
		t.Errorf("a second request is %s, want the same %s", again, call)
	}
	q := f.only()
	if q.Call != call || q.Agent != "test" || !strings.HasPrefix(q.Prompt, "Countersign test wants to run a command in countersign-test-") {
		t.Errorf("question %+v", q)
	}
	if left := q.ExpiresAt.Sub(q.CreatedAt); left != 5*time.Minute {
		t.Errorf("it expires in %s", left)
	}
	f.show(q)
	f.allow(q, 1, "")
	until(t, "its end", func() bool { return f.callOf(call).State == "finished" })
	if c := f.callOf(call); c.Outcome != "done" || c.Exit == nil || *c.Exit != 0 || len(c.Receipts) != 2 {
		t.Errorf("call %+v, failure %q", c, c.Failure)
	}
	f.gone()
	f.verify(2)
	if next := f.testRequest(); next == call {
		t.Error("a later request is the old one")
	}
}

func TestTestRequestDenied(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	f.ownTemp()
	call := f.testRequest()
	q := f.only()
	f.show(q)
	f.must(f.desk.Owner(), wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version}, nil)
	f.gone()
	if c := f.callOf(call); c.Outcome != "refused" {
		t.Errorf("call %+v", c)
	}
}

func TestTestRequestByRule(t *testing.T) {
	// The owner's rules hold for it like for any call.
	f := newFixture(t, `deny = ["bash(tee:*)"]`)
	f.boxed()
	f.ownTemp()
	if c := f.callOf(f.testRequest()); c.Outcome != "denied" {
		t.Errorf("call %+v, want denied", c)
	}
	f.gone()
}

func TestTestRequestLeavesNothingAtAStop(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	f.ownTemp()
	call := f.testRequest()
	f.restart()
	f.gone()
	if c := f.callOf(call); c.State != "finished" || c.Outcome != "origin_gone" || len(f.questions()) != 0 {
		t.Errorf("call %+v", c)
	}
}

func TestTestRequestIsNobodysAgent(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	f.ownTemp()
	call := f.testRequest()
	// A client below the core itself is what it was: this very process is the core here.
	var list wire.Questions
	f.must(f.agent, wire.ActionListQuestions, wire.ListQuestions{}, &list)
	if code := f.do(f.agent, wire.ActionAwaitCall, wire.AwaitCall{Call: call}, nil); code != "unknown_call" {
		t.Errorf("another process awaits the desk's own call: %q", code)
	}
	if code := f.do(f.agent, wire.ActionTestRequest, wire.TestRequest{}, nil); code == "" {
		t.Error("a process without the owner asked for a test request")
	}
	// And an agent that runs the core is still an agent.
	f.bash("ls")
	if code := f.do(f.agent, wire.ActionListQuestions, wire.ListQuestions{}, nil); code != "agent_not_allowed" {
		t.Errorf("an agent lists questions: %q", code)
	}
	in := f.admission("x", "bash", map[string]any{"command": "rm -rf x"})
	in.Agent = "test"
	if code := f.do(f.agent, wire.ActionAdmitCall, in, nil); code != "agent_reserved" {
		t.Errorf("an agent takes the desk's name: %q", code)
	}
}

func TestTestRequestOfAnEarlierRunIsRemoved(t *testing.T) {
	// A core that was killed in the middle must not leave a session that nothing ends, nor its directory; and what is no
	// longer the directory it made is not its to remove.
	f := newFixture(t, "")
	f.ownTemp()
	f.close()
	store, err := state.Open(filepath.Join(f.home, "cs", "state"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"countersign-test-1", "countersign-test-2"} {
		dir := filepath.Join(os.TempDir(), name)
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := pathid.OpenRoot(pathid.OS(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if name == "countersign-test-2" {
			root.Identity.Inode++
		}
		s := desk.Session{ID: uuid.Must(uuid.NewV7()).String(), Agent: "test", Own: true, Project: root.Path, Identity: root.Identity, StartedAt: f.clock.Now()}
		if err := store.Update(func(tx approval.Tx) error { return tx.Put("sessions", s.ID, s) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	if live := f.sessions(false); len(live) != 0 {
		t.Errorf("sessions %+v", live)
	}
	if left := trialDirs(t); len(left) != 1 || filepath.Base(left[0]) != "countersign-test-2" {
		t.Errorf("directories %v", left)
	}
}
