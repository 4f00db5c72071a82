package bridge

import (
	"context"
	"os"
	"testing"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// fileIdentity makes a desk keep its key in a file, so that no keyring is needed.
func fileIdentity(t *testing.T, o *Options) {
	t.Helper()
	if err := os.MkdirAll(o.Dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Dirs.File(), []byte("[identity]\nstore = \"file\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Agents, o.Demo = agents.Known(), true // cheap to guess, so that the test is quick
}

// TestPassphrase goes the whole way of a key file with a real core: chosen, wrong, right.
func TestPassphrase(t *testing.T) {
	var dirs config.Dirs
	first := newStage(t, StartCore, func(_ *stage, o *Options) { fileIdentity(t, o); dirs = o.Dirs })
	first.until(t, PhaseNewPassphrase)
	if got := code(first.ask(t, ActionAppUnlock, AppUnlock{"short"})); got != CodePassphraseShort {
		t.Errorf("a short passphrase answers %q", got)
	}
	if got := code(first.ask(t, ActionAppUnlock, 7)); got != wire.CodeBadArgument {
		t.Errorf("no passphrase answers %q", got)
	}
	if reply := first.ask(t, ActionAppUnlock, AppUnlock{"correct horse"}); reply.Error != nil {
		t.Fatalf("unlock answers %v", reply.Error)
	}
	first.until(t, PhaseReady)
	if reply := first.ask(t, wire.ActionStatus, wire.Empty{}); reply.Error != nil {
		t.Errorf("status answers %v", reply.Error)
	}
	first.Close()

	second := newStage(t, StartCore, func(_ *stage, o *Options) { fileIdentity(t, o); o.Dirs = dirs })
	second.until(t, PhasePassphrase)
	if got := code(second.ask(t, ActionAppUnlock, AppUnlock{"battery staple"})); got != codePassphraseWrong {
		t.Errorf("a wrong passphrase answers %q", got)
	}
	second.until(t, PhasePassphrase)
	if reply := second.ask(t, ActionAppUnlock, AppUnlock{"correct horse"}); reply.Error != nil {
		t.Fatalf("unlock answers %v", reply.Error)
	}
	second.until(t, PhaseReady)
}

// TestClosingWhileAsking: the owner may close the window instead of typing.
func TestClosingWhileAsking(t *testing.T) {
	s := newStage(t, StartCore, func(_ *stage, o *Options) { fileIdentity(t, o) })
	s.until(t, PhaseNewPassphrase)
	if !s.Close() {
		t.Error("it did not close")
	}
}

// TestElsewhere takes over from a core without a window, which another process would be.
func TestElsewhere(t *testing.T) {
	known := func(config.Config) (desk.Secret, bool, error) { return desk.NewSecret("correct horse"), true, nil }
	var other *core.Core
	s := newStage(t, StartCore, func(s *stage, o *Options) {
		fileIdentity(t, o)
		o.Passphrase = known
		var err error
		other, err = core.Start(t.Context(), core.Options{
			Dirs: o.Dirs, Agents: o.Agents, ThrowAway: true, Version: "other",
			Passphrase: func(config.Config) (desk.Secret, error) { return desk.NewSecret("correct horse"), nil },
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Stop = func(context.Context, config.Dirs) (int, error) {
			s.called("stop")
			return 1, other.Close()
		}
	})
	st := s.until(t, PhaseElsewhere)
	if st.Elsewhere == nil || st.Elsewhere.PID != os.Getpid() || st.Elsewhere.Version != "other" {
		t.Errorf("elsewhere %+v", st.Elsewhere)
	}
	if got := code(s.ask(t, wire.ActionPing, wire.Empty{})); got != CodeNoCore {
		t.Errorf("a core action answers %q", got)
	}
	if reply := s.ask(t, ActionAppTakeOver, wire.Empty{}); reply.Error != nil {
		t.Fatalf("take over answers %v", reply.Error)
	}
	s.until(t, PhaseReady)
	if len(s.calls) != 1 || s.calls[0] != "stop" {
		t.Errorf("called %v", s.calls)
	}
}

// TestTheOtherEnds: a core that was ended in its terminal needs no click here.
func TestTheOtherEnds(t *testing.T) {
	var other *core.Core
	s := newStage(t, StartCore, func(_ *stage, o *Options) {
		fileIdentity(t, o)
		o.Passphrase = func(config.Config) (desk.Secret, bool, error) { return desk.NewSecret("correct horse"), true, nil }
		var err error
		other, err = core.Start(t.Context(), core.Options{
			Dirs: o.Dirs, Agents: o.Agents, ThrowAway: true,
			Passphrase: func(config.Config) (desk.Secret, error) { return desk.NewSecret("correct horse"), nil },
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	})
	s.until(t, PhaseElsewhere)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	s.until(t, PhaseReady)
}
