package desk_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/backend/approval"
	"countersign/backend/wire"
)

// ask has the agent propose a write that nobody decided yet: it needs no boundary.
func (f *fixture) ask(name string) wire.CallStatus {
	f.t.Helper()
	return f.propose("Write", map[string]any{"file_path": name, "content": "x"})
}

func TestAnswersNeedAShownCard(t *testing.T) {
	f := newFixture(t, "")
	f.ask("a.txt")
	q := f.only()
	owner, reply := f.desk.Owner(), wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1}
	if code := f.do(owner, wire.ActionQuestionReply, reply, nil); code != "not_shown" {
		t.Fatalf("an allow before the card was shown: %q", code)
	}
	if code := f.do(owner, wire.ActionQuestionShown, wire.QuestionShown{ID: q.ID, Version: q.Version + 1}, nil); code != "stale_version" {
		t.Errorf("another version was shown: %q", code)
	}
	var shown wire.ShownResult
	f.must(owner, wire.ActionQuestionShown, wire.QuestionShown{ID: q.ID, Version: q.Version}, &shown)
	if !shown.ShownAt.Equal(f.clock.Now()) || shown.AnswersAt.Sub(shown.ShownAt) != approval.ShownDelay {
		t.Errorf("shown: %+v at %v", shown, f.clock.Now())
	}
	f.restart()
	owner = f.desk.Owner()
	if now := f.only(); !now.ShownAt.Equal(shown.ShownAt) {
		t.Errorf("after a restart it was shown at %v, want %v", now.ShownAt, shown.ShownAt)
	}
	f.clock.advance(180 * time.Millisecond)
	args, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	command := uuid.Must(uuid.NewV7()).String()
	answer := f.desk.Do(context.Background(), owner, wire.Request{Action: wire.ActionQuestionReply, CommandID: command, Args: args}, nil)
	if answer.Error == nil || answer.Error.Code != "too_soon" || answer.Error.Args["wait_ms"] != "320" {
		t.Fatalf("an allow right after the showing: %+v, want too_soon with 320 ms", answer.Error)
	}
	ms, err := strconv.Atoi(answer.Error.Args["wait_ms"])
	if err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Duration(ms) * time.Millisecond)
	if code := f.doAs(command, owner, wire.ActionQuestionReply, reply, nil); code != "" {
		t.Errorf("the same command after that wait: %q", code)
	}
	if code := f.doAs(command, owner, wire.ActionQuestionReply, reply, nil); code != "" {
		t.Errorf("the same command again: %q", code)
	}
}

// A notification may deny although no card was shown.
func TestDenialNeedsNoShowing(t *testing.T) {
	f := newFixture(t, "")
	f.ask("a.txt")
	q := f.only()
	f.must(f.desk.Owner(), wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version}, nil)
}

func TestExtendQuestion(t *testing.T) {
	f := newFixture(t, "")
	status := f.ask("a.txt")
	q := f.only()
	f.clock.advance(4 * time.Minute)
	var longer wire.Question
	f.must(f.desk.Owner(), wire.ActionExtendQuestion, wire.ExtendQuestion{ID: q.ID, Version: q.Version}, &longer)
	if want := f.clock.Now().Add(approval.DefaultWait); !longer.ExpiresAt.Equal(want) || longer.Version != q.Version {
		t.Errorf("extended to %v in version %d, want %v in %d", longer.ExpiresAt, longer.Version, want, q.Version)
	}
	f.clock.advance(4 * time.Minute)
	if status = f.await(status.Call); !status.Waiting() {
		t.Errorf("after eight minutes: %+v, want waiting", status)
	}

	// A client that says how long it waits is not waited for any longer.
	in := f.admission(uuid.NewString(), "Write", map[string]any{"file_path": "b.txt", "content": "x"})
	in.ExpiresInSeconds = 60
	f.must(f.agent, wire.ActionAdmitCall, in, nil)
	for _, other := range f.questions() {
		if other.ID == q.ID {
			continue
		}
		if !other.HoldUntil.Equal(f.clock.Now().Add(time.Minute)) {
			t.Errorf("held until %v", other.HoldUntil)
		}
		if code := f.do(f.desk.Owner(), wire.ActionExtendQuestion, wire.ExtendQuestion{ID: other.ID, Version: other.Version}, nil); code != "cannot_extend" {
			t.Errorf("extended beyond what its client waits: %q", code)
		}
	}
	for _, action := range []string{wire.ActionExtendQuestion, wire.ActionQuestionShown} {
		if code := f.do(f.agent, action, wire.ExtendQuestion{ID: q.ID, Version: q.Version}, nil); code != "agent_not_allowed" {
			t.Errorf("%s by the agent: %q", action, code)
		}
	}
}
