package sandbox

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

func TestNothingRunsWithoutAStartRecord(t *testing.T) {
	r := newRig(t)
	r.sink.fail = errors.New("disk full")
	_, _, err := r.try(t.Context(), r.spec("touch ran"))
	if !errors.Is(err, ErrRecord) || !errors.Is(err, r.sink.fail) {
		t.Errorf("%v", err)
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestEndRecordFailureIsTold(t *testing.T) {
	r := newRig(t)
	p, err := r.broker.Start(t.Context(), r.spec("sleep 0.2"))
	if err != nil {
		t.Fatal(err)
	}
	r.sink.mu.Lock()
	r.sink.fail = errors.New("disk full")
	r.sink.mu.Unlock()
	if end := p.Wait(); !errors.Is(end.Err, r.sink.fail) || status(end) != 0 {
		t.Errorf("%+v", end)
	}
}

func TestRefusedSpecifications(t *testing.T) {
	r := newRig(t)
	base := r.spec("true")
	with := func(change func(*Spec)) Spec {
		s := base
		change(&s)
		return s
	}
	capable := func(change func(*capability.Request)) Spec {
		r.change = change
		s := r.spec("touch ran")
		r.change = nil
		return s
	}
	gone := resolved(t, t.TempDir())
	moved := capable(func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, gone) })
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	for _, c := range []struct {
		name string
		spec Spec
		want error
	}{
		{"script and argv", with(func(s *Spec) { s.Argv = []string{"true"} }), ErrSpec},
		{"neither", with(func(s *Spec) { s.Script = "" }), ErrSpec},
		{"NUL", with(func(s *Spec) { s.Script = "a\x00b" }), ErrSpec},
		{"one megabyte", with(func(s *Spec) { s.Script = strings.Repeat("a", 1<<20) }), ErrTooLong},
		{"no capability", with(func(s *Spec) { s.Effective = capability.Effective{} }), ErrSpec},
		{"no identity", with(func(s *Spec) { s.CwdIdentity = pathid.Identity{} }), ErrSpec},
		{"other class", with(func(s *Spec) { s.Class = capability.ClassGate }), ErrSpec},
		{"no call", with(func(s *Spec) { s.Call = "" }), ErrSpec},
		{"replaced directory", with(func(s *Spec) { s.CwdIdentity.Inode++ }), ErrCwdReplaced},
		{"bad name", with(func(s *Spec) { s.Environment = map[string]string{"A=B": ""} }), ErrSpec},
		{"foreign name", with(func(s *Spec) { s.Environment = map[string]string{"LD_PRELOAD": "x"} }), ErrEnvironment},
		{"network", capable(func(req *capability.Request) { req.Network = capability.NetworkOpen }), ErrNetwork},
		{"full access", capable(func(req *capability.Request) { req.Policy = capability.DangerFullAccess }), ErrUnboxed},
		{"root vanished", moved, ErrRootMissing},
		{"whole tree", capable(func(req *capability.Request) { req.ReadRoots = append(req.ReadRoots, "/") }), ErrRootTooWide},
		{"home", capable(func(req *capability.Request) { req.ReadRoots = append(req.ReadRoots, home) }), ErrRootTooWide},
		{"run", capable(func(req *capability.Request) { req.ReadRoots = append(req.ReadRoots, "/run") }), ErrRootTooWide},
		{"write system", capable(func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, "/usr/local") }), ErrRootTooWide},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := r.try(t.Context(), c.spec); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if len(r.sink.all()) > 0 || len(r.workspaceEntries()) > 0 {
		t.Errorf("%v %v", r.sink.all(), r.workspaceEntries())
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(CauseCoreStopped)
	if _, _, err := r.try(ctx, r.spec("touch ran")); !errors.Is(err, CauseCoreStopped) {
		t.Errorf("%v", err)
	}
}
