package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// testDesk is a desk in this process, whose owner is the test.
type testDesk struct {
	t    *testing.T
	home string
	core *core.Core
}

func newTestDesk(t *testing.T) *testDesk {
	t.Helper()
	home, err := os.MkdirTemp("", "cs-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	dirs, err := config.Resolve(home, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dirs.File(), []byte("[identity]\nstore = \"file\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	running, err := core.Start(context.Background(), core.Options{
		Dirs: dirs, Agents: agents.Known(), ThrowAway: true, Version: "test",
		Passphrase: func(config.Config) (desk.Secret, error) { return desk.NewSecret("correct horse battery"), nil },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Close() })
	return &testDesk{t: t, home: home, core: running}
}

func (d *testDesk) do(action string, in, out any) {
	d.t.Helper()
	args, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		reply := d.core.Desk.Do(context.Background(), d.core.Desk.Owner(), wire.Request{Action: action, CommandID: rand.Text(), Args: args}, nil)
		switch {
		case reply.Error == nil && out == nil:
			return
		case reply.Error == nil:
			if err := json.Unmarshal(reply.Result, out); err != nil {
				d.t.Fatal(err)
			}
			return
		case reply.Error.Code != "too_soon" || time.Now().After(deadline):
			d.t.Fatalf("%s: %v", action, reply.Error)
		}
		time.Sleep(50 * time.Millisecond) // the core counts by its own clock, in another goroutine
	}
}

// script is a running agent with both ends of its script.
type script struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func newScript(t *testing.T, d *testDesk, project string) *script {
	t.Helper()
	program := filepath.Join(t.TempDir(), "claude")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	s := &script{t: t, cmd: exec.Command(program)}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = project, append(os.Environ(), config.HomeVariable+"="+d.home), os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = json.NewDecoder(bufio.NewReader(out))
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.next("", eventReady)
	return s
}

func (s *script) write(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// next reads the next event, which must be this one of this order.
func (s *script) next(id, kind string) event {
	s.t.Helper()
	var e event
	if err := s.out.Decode(&e); err != nil {
		s.t.Fatal(err)
	}
	if e.ID != id || e.Event != kind {
		s.t.Fatalf("event %+v, not %s of %q", e, kind, id)
	}
	return e
}

func TestScript(t *testing.T) {
	d := newTestDesk(t)
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "notes.txt"), []byte("a note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newScript(t, d, project)

	s.write(`{"id": "read", "tool": "read", "args": {"path": "notes.txt"}}`)
	if e := s.next("read", eventAdmitted); e.State != "allowed" {
		t.Fatalf("reading in the project: %+v", e)
	}
	if e := s.next("read", eventEnded); e.Exit == nil || *e.Exit != 0 || e.Output == "" {
		t.Errorf("read: %+v", e)
	}

	// Two wait at the same time; one is allowed, one withdrawn.
	s.write(`{"id": "write", "tool": "write", "args": {"path": "new.txt", "content": "new\n"}, "expires_in_seconds": -1}`)
	written := s.next("write", eventAdmitted)
	s.write(`{"id": "other", "tool": "write", "args": {"path": "other.txt", "content": "other\n"}}`)
	other := s.next("other", eventAdmitted)
	if written.Question == "" || other.Question == "" || written.State != "waiting" {
		t.Fatalf("nobody was asked: %+v, %+v", written, other)
	}
	var q wire.Question
	d.do(wire.ActionGetQuestion, wire.GetQuestion{ID: written.Question}, &q)
	if !q.ExpiresAt.IsZero() {
		t.Errorf("it expires at %s", q.ExpiresAt)
	}
	d.do(wire.ActionQuestionShown, wire.QuestionShown{ID: q.ID, Version: q.Version}, nil)
	d.do(wire.ActionQuestionReply, wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1, Comment: "once"}, nil)
	if e := s.next("write", eventDecided); e.State != "allowed" || e.Comment != "once" {
		t.Errorf("allowed: %+v", e)
	}
	s.next("write", eventEnded)
	if data, err := os.ReadFile(filepath.Join(project, "new.txt")); err != nil || string(data) != "new\n" {
		t.Errorf("written: %q, %v", data, err)
	}

	s.write(`{"id": "back", "cancel": "` + other.Call + `"}`)
	seen := map[string]event{}
	for range 2 {
		var e event
		if err := s.out.Decode(&e); err != nil {
			t.Fatal(err)
		}
		seen[e.ID] = e
	}
	if seen["back"].Event != eventCancelled || seen["other"].Event != eventDecided || seen["other"].Outcome != "cancelled" {
		t.Errorf("withdrawn: %+v", seen)
	}

	s.write(`{"id": "alone", "tool": "write", "args": {"path": "x", "content": ""}, "absent": true}`)
	if e := s.next("alone", eventAdmitted); e.State != "finished" || e.Outcome == "" {
		t.Errorf("without an owner: %+v", e)
	}
	s.write(`{"id": "wrong", "cancel": "0190a6c2-8f3e-7c11-9d65-3c0a4b6e7f10"}`)
	if e := s.next("wrong", eventError); e.Code != "unknown_call" {
		t.Errorf("a call that is none: %+v", e)
	}

	// It ends with its input, whatever waits.
	s.write(`{"id": "last", "tool": "write", "args": {"path": "y", "content": ""}}`)
	s.next("last", eventAdmitted)
	_ = s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("its end: %v", err)
	}
}
