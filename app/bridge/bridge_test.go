package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// TestOneMethod: the window library offers every exported method of what it binds to the page.
func TestOneMethod(t *testing.T) {
	bound := reflect.TypeFor[*Bridge]()
	if bound.NumMethod() != 1 || bound.Method(0).Name != "Do" {
		t.Errorf("the page can call %d methods, the first is %s", bound.NumMethod(), bound.Method(0).Name)
	}
}

func TestDoAlwaysAnswers(t *testing.T) {
	fake := newFakeCore()
	fake.answer = func(req wire.Request) wire.Reply {
		switch req.Action {
		case "panic":
			panic("on purpose")
		case "large":
			return wire.Reply{Applied: true, Result: json.RawMessage(`"` + strings.Repeat("x", wire.MaxMessage) + `"`)}
		case "broken":
			return wire.Reply{Applied: true, Result: json.RawMessage(`{`)}
		}
		return wire.Reply{Applied: true, Result: json.RawMessage(`{}`)}
	}
	s := newStage(t, starts(fake), nil)
	s.until(t, PhaseReady)
	const id = "0197a1f0-0000-7000-8000-000000000001"
	tests := []struct {
		name, request string
		code          string
		id            string
	}{
		{"not JSON", "{", wire.CodeBadMessage, ""},
		{"empty", "", wire.CodeBadMessage, ""},
		{"no id", `{"action":"ping"}`, wire.CodeBadMessage, ""},
		{"unknown field", `{"action":"ping","command_id":"` + id + `","owner":true}`, wire.CodeBadMessage, id},
		{"files", `{"action":"redeem_call","command_id":"` + id + `","files":3}`, wire.CodeBadArgument, id},
		{"panic", `{"action":"panic","command_id":"` + id + `"}`, CodeInternal, id},
		{"too large", `{"action":"large","command_id":"` + id + `"}`, wire.CodeTooLarge, id},
		{"broken", `{"action":"broken","command_id":"` + id + `"}`, CodeInternal, id},
		{"good", `{"action":"ping","command_id":"` + id + `"}`, "", id},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var reply wire.Reply
			if err := json.Unmarshal([]byte(s.Page().Do(tt.request)), &reply); err != nil {
				t.Fatal(err)
			}
			if code(reply) != tt.code || reply.CommandID != tt.id {
				t.Errorf("answered %+v, want code %q under %q", reply, tt.code, tt.id)
			}
		})
	}
}

// TestPassphraseFromAFile: a wrong passphrase that a file gives was tried again at once, for ever, while the page said that
// the desk was opening. Only what was typed is asked for again.
func TestPassphraseFromAFile(t *testing.T) {
	known := func(problem error) func(*stage, *Options) {
		return func(_ *stage, o *Options) {
			o.Passphrase = func(config.Config) (desk.Secret, bool, error) {
				return desk.NewSecret("not this one"), problem == nil, problem
			}
		}
	}
	asks := func(outcome error) Start {
		return func(_ context.Context, o core.Options, _ func(*desk.Desk, config.Config) error) (Core, error) {
			if _, err := o.Passphrase(config.Config{}); err != nil {
				return nil, err
			}
			return nil, outcome
		}
	}
	for _, tt := range []struct {
		name    string
		problem error
		outcome error
		want    string
	}{
		{"wrong", nil, coded{codePassphraseWrong}, codePassphraseWrong},
		{"of a form that cannot be", nil, coded{codePassphraseForm}, codePassphraseForm},
		{"the file has a form that cannot be", coded{codePassphraseForm}, nil, codePassphraseForm},
		{"no such file", fs.ErrNotExist, nil, codePassphraseFile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := newStage(t, asks(tt.outcome), known(tt.problem)).until(t, PhaseFault)
			if st.Fault == nil || st.Fault.Code != tt.want {
				t.Errorf("fault %+v, want %s", st.Fault, tt.want)
			}
		})
	}
}

// TestConfigFault: a mistake in config.toml was called a fault of the program.
func TestConfigFault(t *testing.T) {
	err := fmt.Errorf("open: %w", &config.Error{Path: "/c/config.toml", Line: 3, Key: "identty.store", Nearest: "identity.store", Problem: "no such key"})
	f := faultOf(err)
	if f.Code != codeConfigInvalid || f.Args["detail"] != "/c/config.toml:3: identty.store: no such key → identity.store?" {
		t.Errorf("fault %+v", f)
	}
}

func TestPhases(t *testing.T) {
	t.Run("a fault is shown and tried again", func(t *testing.T) {
		s := newStage(t, starts(coded{"keyring_locked"}, newFakeCore()), nil)
		st := s.until(t, PhaseFault)
		if st.Fault == nil || st.Fault.Code != "keyring_locked" || st.Fault.Args["path"] != "/x" {
			t.Errorf("fault %+v", st.Fault)
		}
		if got := code(s.ask(t, wire.ActionPing, wire.Empty{})); got != CodeNoCore {
			t.Errorf("a core action answers %q", got)
		}
		if got := code(s.ask(t, ActionAppTakeOver, wire.Empty{})); got != CodeNotNow {
			t.Errorf("a take-over of nobody answers %q", got)
		}
		if got := code(s.ask(t, ActionAppRetry, wire.Empty{})); got != "" {
			t.Errorf("retry answers %q", got)
		}
		s.until(t, PhaseReady)
		if got := code(s.ask(t, wire.ActionPing, wire.Empty{})); got != "" {
			t.Errorf("a core action answers %q", got)
		}
		if got := code(s.ask(t, ActionAppRetry, wire.Empty{})); got != CodeNotNow {
			t.Errorf("retry of what runs answers %q", got)
		}
	})
	t.Run("an error without a code", func(t *testing.T) {
		s := newStage(t, starts(errPlain), nil)
		if st := s.until(t, PhaseFault); st.Fault.Code != CodeInternal {
			t.Errorf("fault %+v", st.Fault)
		}
	})
	t.Run("a panic on the way is a fault", func(t *testing.T) {
		s := newStage(t, starts("panic", newFakeCore()), nil)
		if st := s.until(t, PhaseFault); st.Fault.Code != CodeInternal {
			t.Errorf("fault %+v", st.Fault)
		}
		s.ask(t, ActionAppRetry, wire.Empty{})
		s.until(t, PhaseReady)
	})
	t.Run("a core that ends by itself", func(t *testing.T) {
		first := newFakeCore()
		s := newStage(t, starts(first, newFakeCore()), nil)
		s.until(t, PhaseReady)
		s.ask(t, wire.ActionSubscribe, wire.Subscribe{})
		close(first.done)
		if st := s.until(t, PhaseFault); st.Fault.Code != codeCoreEnded {
			t.Errorf("fault %+v", st.Fault)
		}
		s.event(t, EventLost)
		if !first.closed {
			t.Error("it was not closed")
		}
	})
	t.Run("a lock without anybody there", func(t *testing.T) {
		s := newStage(t, starts(coded{codeStoreLocked}), nil)
		if st := s.until(t, PhaseFault); st.Fault.Code != codeStoreLocked {
			t.Errorf("fault %+v", st.Fault)
		}
	})
	t.Run("closing", func(t *testing.T) {
		fake := newFakeCore()
		s := newStage(t, starts(fake), nil)
		s.until(t, PhaseReady)
		s.Close()
		if s.Status().Phase != PhaseClosing || !fake.closed {
			t.Errorf("%+v, core closed: %t", s.Status(), fake.closed)
		}
		if got := code(s.ask(t, wire.ActionPing, wire.Empty{})); got != CodeNoCore {
			t.Errorf("a core action answers %q", got)
		}
	})
}

func TestLocalActions(t *testing.T) {
	s := newStage(t, starts(newFakeCore()), func(s *stage, _ *Options) { s.notified = coded{"no_notification_service"} })
	s.until(t, PhaseReady)
	s.SetTray(Part{Code: "no_tray_host"})
	var st AppStatus
	if err := json.Unmarshal(s.ask(t, ActionAppStatus, wire.Empty{}).Result, &st); err != nil || st.Tray.Code != "no_tray_host" || st.Version != "test" {
		t.Errorf("status %+v, %v", st, err)
	}
	s.ask(t, ActionAppHide, wire.Empty{})
	s.ask(t, ActionAppQuit, wire.Empty{})
	if got := strings.Join(s.calls, " "); got != "hide quit" {
		t.Errorf("called %q", got)
	}
	if got := code(s.ask(t, ActionAppTestNotification, wire.Empty{})); got != "no_notification_service" {
		t.Errorf("the test notification answers %q", got)
	}
	if got := code(s.ask(t, ActionAppUnlock, AppUnlock{"12345678"})); got != CodeNotNow {
		t.Errorf("unlock of what is open answers %q", got)
	}
}

// TestEveryLocalActionIsDone keeps the list and the switch together: an action that is named and not done would answer
// "applied" and do nothing.
func TestEveryLocalActionIsDone(t *testing.T) {
	for name := range Actions() {
		if !strings.HasPrefix(name, "app_") {
			t.Errorf("%s is named like an action of the core", name)
		}
	}
	if len(Actions()) != 7 {
		t.Error("an action was added: do it in local, and count it here")
	}
}

func TestSubscription(t *testing.T) {
	fake := newFakeCore()
	s := newStage(t, starts(fake), nil)
	s.until(t, PhaseReady)
	if _, err := fake.log.Append("call.updated", 1); err != nil {
		t.Fatal(err)
	}
	reply := s.ask(t, wire.ActionSubscribe, wire.Subscribe{})
	var sub wire.Subscribed
	if err := json.Unmarshal(reply.Result, &sub); err != nil || sub.Seq != 1 {
		t.Fatalf("subscribed %+v, %v", reply, err)
	}
	next := func() wire.Frame {
		var f wire.Frame
		if err := json.Unmarshal([]byte(s.event(t, EventFrame)), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if _, err := fake.log.Append("call.updated", 2); err != nil {
		t.Fatal(err)
	}
	if f := next(); f.Seq != 2 {
		t.Errorf("frame %+v", f)
	}
	// Resuming takes the place of the first one: a frame comes once.
	s.ask(t, wire.ActionSubscribe, wire.Subscribe{Epoch: "epoch", After: 1})
	if f := next(); f.Seq != 2 {
		t.Errorf("the resumed stream begins with %+v", f)
	}
	if _, err := fake.log.Append("call.updated", 3); err != nil {
		t.Fatal(err)
	}
	if f := next(); f.Seq != 3 || f.PrevSeq != 2 {
		t.Errorf("frame %+v", f)
	}
	if _, err := fake.log.Append("call.updated", 4); err != nil {
		t.Fatal(err)
	}
	if f := next(); f.Seq != 4 {
		t.Errorf("frame %+v came twice", f)
	}
	// Another run of the core: the page is told to take a new snapshot.
	reply = s.ask(t, wire.ActionSubscribe, wire.Subscribe{Epoch: "another", After: 1})
	if err := json.Unmarshal(reply.Result, &sub); err != nil || !sub.Reload {
		t.Errorf("subscribed %+v, %v", sub, err)
	}
	fake.log.Close()
	s.event(t, EventLost)
	if got := code(s.ask(t, wire.ActionSubscribe, []int{1})); got != wire.CodeBadArgument {
		t.Errorf("a malformed subscribe answers %q", got)
	}
}

// TestWindowBeforeTheCore: what was said about the window before there was a core is told to the one that comes.
func TestWindowBeforeTheCore(t *testing.T) {
	fake := newFakeCore()
	s := newStage(t, starts(errPlain, fake), nil)
	s.until(t, PhaseFault)
	s.SetWindow(true, true)
	s.ask(t, ActionAppRetry, wire.Empty{})
	s.until(t, PhaseReady)
	fake.mu.Lock()
	defer fake.mu.Unlock()
	if len(fake.window) != 2 || !fake.window[0] || !fake.window[1] {
		t.Errorf("the core heard %v of the window", fake.window)
	}
}

func TestGuardReports(t *testing.T) {
	s := newStage(t, starts(newFakeCore()), nil)
	<-Go(s.options.Log, "test", func() { panic(errors.New("on purpose")) })
	if Guarded(s.options.Log, "test", func() { panic("on purpose") }) {
		t.Error("a panic counts as an end")
	}
}
