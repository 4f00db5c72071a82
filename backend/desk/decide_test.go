package desk_test

import (
	"context"
	"testing"

	"countersign/backend/classify"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// scripted answers a classifier's questions in turn, the last answer for ever.
type scripted struct {
	answers []policy.Classification
	asked   []classify.Call
	then    func()
}

func (s *scripted) Classify(_ context.Context, call classify.Call) policy.Classification {
	s.asked = append(s.asked, call)
	if s.then != nil {
		s.then()
	}
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer
}

const autoWithoutBoxedReads = "[decision]\nmode = \"auto\"\n"

func autoFixture(t *testing.T, c *scripted) *fixture {
	t.Helper()
	f := newFixture(t, autoWithoutBoxedReads)
	f.close()
	f.classifier = c
	f.open()
	off := wire.BoxedOff
	f.must(f.desk.Owner(), wire.ActionSetProject, wire.SetProject{Project: f.project, BoxedReads: &off}, nil)
	return f
}

func TestAutoModeAsksTheClassifier(t *testing.T) {
	c := &scripted{answers: []policy.Classification{{Safe: true, Reason: "only a file"}, {Err: "timeout"}, {Reason: "no"}}}
	f := autoFixture(t, c)
	if status := f.bash("touch a"); status.State != "allowed" || status.Reason != string(policy.ReasonAutoAllow) {
		t.Errorf("safe: %+v", status)
	}
	if status := f.bash("touch b"); status.State != "waiting" || status.Reason != string(policy.ReasonClassifierFailed) {
		t.Errorf("failed: %+v", status)
	}
	if status := f.bash("touch c"); status.State != "waiting" || status.Reason != string(policy.ReasonAutoBlock) {
		t.Errorf("blocked: %+v", status)
	}
	if len(c.asked) != 3 || c.asked[0].Command != "touch a" || c.asked[0].Digest == "" || c.asked[0].PolicyVersion == "" || c.asked[0].Digest == c.asked[1].Digest {
		t.Errorf("%+v", c.asked)
	}
	if f.bash("ls"); len(c.asked) != 3 {
		t.Error("a safe read was sent away")
	}
}

// An agent that is blocked time and again needs a person: auto mode pauses until a mode is set.
func TestBlocksInARowPauseAutoMode(t *testing.T) {
	c := &scripted{answers: []policy.Classification{{}, {}, {Safe: true}, {}, {}, {}, {Safe: true}}}
	f := autoFixture(t, c)
	for _, file := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		f.bash("touch " + file)
	}
	if len(c.asked) != 6 {
		t.Errorf("the classifier was asked %d times, want 6", len(c.asked))
	}
	var list wire.Sessions
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{}, &list)
	s := list.Sessions[0]
	if !s.AutoPaused || s.Mode != policy.ModeAsk {
		t.Errorf("%+v", s)
	}
	f.must(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: s.ID, Mode: policy.ModeAuto, ExpectedVersion: s.ModeVersion}, nil)
	if status := f.bash("touch h"); status.Reason != string(policy.ReasonAutoAllow) {
		t.Errorf("%+v", status)
	}
}

// What the owner changed while the classifier was asked counts.
func TestAChangeWhileTheClassifierThinksCounts(t *testing.T) {
	c := &scripted{answers: []policy.Classification{{Safe: true}}}
	f := autoFixture(t, c)
	f.bash("ls")
	id := f.sessionID()
	c.then = func() {
		f.must(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: id, Mode: policy.ModePlan}, nil)
	}
	if status := f.bash("touch a"); status.Reason != string(policy.ReasonPlanReadonly) {
		t.Errorf("plan mode: %+v", status)
	}
	c.then = nil
	f.must(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: id, Mode: policy.ModeAuto, ExpectedVersion: 1}, nil)
	c.then = func() {
		c.then = nil
		f.must(f.desk.Owner(), wire.ActionPauseSession, wire.PauseSession{Session: id}, nil)
	}
	if code := f.do(f.agent, wire.ActionAdmitCall, f.admission("p", "bash", map[string]any{"command": "touch b"}), nil); code != "session_paused" {
		t.Errorf("paused: %q", code)
	}
}
