package desk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

func TestAskedAllowedRunAndRecorded(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	status := f.bash("mkdir sub && cd sub && pwd && exit 7")
	if !status.Waiting() {
		t.Fatalf("status %+v, want waiting", status)
	}
	f.allow(f.only(), 1, "only once")
	status = f.await(status.Call)
	if !status.Allowed() || status.Comment != "only once" {
		t.Fatalf("status %+v, want allowed with the owner's note", status)
	}
	result, output, code := f.run(status.Call)
	sub := filepath.Join(f.project, "sub")
	if code != "" || result.Exit == nil || *result.Exit != 7 || output != sub || result.Directory != sub {
		t.Fatalf("run: %q %+v, output %q; want exit 7 in %s", code, result, output, sub)
	}
	var dir wire.CallDirectory
	f.must(f.agent, wire.ActionCallDirectory, wire.CallRef{Call: status.Call}, &dir)
	if dir.Directory != sub {
		t.Errorf("final directory %q, want %q", dir.Directory, sub)
	}
	f.verify(2)
	// The id is single use.
	if _, _, code := f.run(status.Call); code == "" {
		t.Error("the call ran twice")
	}
}

func TestOnceAnswersOneCallAndSessionSavesARule(t *testing.T) {
	// A peer's "once" became session-wide (case hermes-4973); here the same call asks again.
	f := newFixture(t, "")
	f.boxed()
	f.bash("touch a")
	f.allow(f.only(), 1, "")
	if status := f.bash("touch a"); !status.Waiting() {
		t.Fatalf("after once the same call is %+v, want waiting", status)
	}
	q := f.only()
	if len(q.Offers) != 2 || q.Offers[1].Scope != "session" || len(q.Offers[1].Rules) != 1 {
		t.Fatalf("offers %+v, want once and session with one rule", q.Offers)
	}
	f.allow(q, 2, "")
	if status := f.bash("touch a"); !status.Allowed() || status.Reason != "rule_allow" {
		t.Fatalf("after the session offer the same call is %+v, want allowed by rule", status)
	}
	if status := f.bash("touch b"); !status.Waiting() {
		t.Fatalf("another call is %+v: the saved rule is wider than it was shown", status)
	}
}

func TestRestartKeepsWaitAndAnswerReachesAgent(t *testing.T) {
	// Peers lose pending approvals with the process (case openclaw-64664).
	f := newFixture(t, "")
	f.boxed()
	id := uuid.NewString()
	before := f.proposeAs(id, "bash", map[string]any{"command": "touch x"})
	q := f.only()
	f.restart()
	again := f.proposeAs(id, "bash", map[string]any{"command": "touch x"})
	if again.Call != before.Call || !again.Waiting() {
		t.Fatalf("after a restart the same call is %+v, want the wait of %+v", again, before)
	}
	if now := f.only(); now.ID != q.ID || now.Version != q.Version {
		t.Fatalf("the question changed: %+v, was %+v", now, q)
	}
	f.allow(q, 1, "")
	f.restart()
	if status := f.await(before.Call); !status.Allowed() {
		t.Fatalf("after another restart the answered call is %+v, want allowed", status)
	}
	if code := f.do(f.agent, wire.ActionAdmitCall, f.admission(id, "bash", map[string]any{"command": "touch other"}), nil); code != "admission_mismatch" {
		t.Errorf("the same key with another command: %q, want admission_mismatch", code)
	}
}

func TestAnswerIsAppliedOnce(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	f.bash("touch x")
	q := f.only()
	command := uuid.Must(uuid.NewV7()).String()
	in := wire.QuestionReject{ID: q.ID, Version: q.Version, Comment: "no"}
	var first, second wire.AnswerResult
	if code := f.doAs(command, f.desk.Owner(), wire.ActionQuestionReject, in, &first); code != "" {
		t.Fatal(code)
	}
	if code := f.doAs(command, f.desk.Owner(), wire.ActionQuestionReject, in, &second); code != "" || first != second {
		t.Errorf("the same command again: %q %+v, want %+v", code, second, first)
	}
	reply := wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1}
	if code := f.do(f.desk.Owner(), wire.ActionQuestionReply, reply, nil); code != "already_answered" {
		t.Errorf("a later answer: %q, want already_answered", code)
	}
}

func TestExpiryIsNotADenialByAPerson(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	status := f.bash("touch x")
	f.clock.advance(6 * time.Minute)
	for range 100 {
		if status = f.await(status.Call); !status.Waiting() {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if status.Outcome != "expired" || status.Allowed() {
		t.Fatalf("status %+v, want expired", status)
	}
}

func TestAllowIsNotKeptForever(t *testing.T) {
	f := newFixture(t, `allow = ["bash(touch:*)"]`)
	f.boxed()
	status := f.bash("touch x")
	f.clock.advance(2 * time.Minute)
	if _, _, code := f.run(status.Call); code == "" {
		t.Fatal("an allow of two minutes ago was redeemed")
	}
	if _, err := os.Stat(filepath.Join(f.project, "x")); err == nil {
		t.Error("the command ran")
	}
}

func TestWhatRunsIsWhatWasApproved(t *testing.T) {
	change := map[string]func(t *testing.T, project string){
		"the script it runs changed": func(t *testing.T, project string) {
			if err := os.WriteFile(filepath.Join(project, "deploy.sh"), []byte("#!/bin/sh\ntouch evil\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"the directory was replaced": func(t *testing.T, project string) {
			if err := os.Rename(project, project+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(project, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(project, "deploy.sh"), []byte("#!/bin/sh\ntouch good\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, swap := range change {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "")
			f.boxed()
			if err := os.WriteFile(filepath.Join(f.project, "deploy.sh"), []byte("#!/bin/sh\ntouch good\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			status := f.bash("./deploy.sh")
			f.allow(f.only(), 1, "")
			swap(t, f.project)
			if _, _, code := f.run(status.Call); code != "approval_mismatch" {
				t.Fatalf("redeem: %q, want approval_mismatch", code)
			}
			for _, made := range []string{"good", "evil"} {
				if _, err := os.Stat(filepath.Join(f.project, made)); err == nil {
					t.Errorf("%s was made: the command ran", made)
				}
			}
		})
	}
}

// Every spelling of running a script is bound to what the script held: options before it, a directory changed into, input
// redirected, a wrapper or a shell in between.
func TestScriptIsBoundHoweverItIsRun(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	sub := filepath.Join(f.project, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"./sub/s.sh", "bash -x -e sub/s.sh", "cd sub && bash s.sh", "cd sub && ./s.sh", "bash < sub/s.sh", "timeout 5 bash sub/s.sh",
		"env A=1 B=2 C=3 bash sub/s.sh", `bash -c "bash sub/s.sh"`, "python3 -u -B -E sub/s.sh", "make -C sub", ". sub/s.sh",
	} {
		for name, text := range map[string]string{"s.sh": "#!/bin/sh\ntouch good\n", "Makefile": "all:\n\ttouch good\n"} {
			if err := os.WriteFile(filepath.Join(sub, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		status := f.bash(command)
		f.allow(f.only(), 1, "")
		for name, text := range map[string]string{"s.sh": "#!/bin/sh\ntouch evil\n", "Makefile": "all:\n\ttouch evil\n"} {
			if err := os.WriteFile(filepath.Join(sub, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, code := f.run(status.Call); code != "approval_mismatch" {
			t.Errorf("%s: %q, want approval_mismatch", command, code)
		}
	}
}

func TestSessionEndsWithItsProcess(t *testing.T) {
	// An answer to a request whose agent is gone must have a terminal state to read (case t3code-5195).
	f := newFixture(t, "")
	f.boxed()
	agent := exec.Command("sleep", "60")
	agent.Dir = f.project
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	f.agent.Peer.Chain = []wire.Process{processOf(t, agent.Process.Pid)}
	status := f.bash("touch x")
	q := f.only()
	_ = agent.Process.Kill()
	_ = agent.Wait()
	for range 200 {
		if len(f.questions()) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	var calls wire.Calls
	f.must(f.desk.Owner(), wire.ActionListCalls, wire.ListCalls{Session: q.Session}, &calls)
	if len(calls.Calls) != 1 || calls.Calls[0].ID != status.Call || calls.Calls[0].Outcome != "origin_gone" {
		t.Fatalf("calls %+v, want origin_gone", calls.Calls)
	}
	if code := f.do(f.desk.Owner(), wire.ActionQuestionReply, wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1}, nil); code == "" {
		t.Error("a question of a dead agent could be allowed")
	}
}

func TestOnlyTheOwnerAnswers(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	if err := f.desk.SetPassphrase(desk.NewSecret(passphrase)); err != nil {
		t.Fatal(err)
	}
	f.bash("touch x")
	q := f.only()
	reply := wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1}

	if code := f.do(f.agent, wire.ActionQuestionReply, reply, nil); code != "agent_not_allowed" {
		t.Errorf("the agent itself: %q, want agent_not_allowed", code)
	}
	child := f.agent
	child.Peer.Chain = append([]wire.Process{{PID: 999999, Start: 1, Exe: "/usr/bin/countersign"}}, child.Peer.Chain...)
	child.Peer.TTY, child.Peer.Session = 34816, 999999
	if code := f.do(child, wire.ActionQuestionReply, reply, nil); code != "agent_not_allowed" {
		t.Errorf("a descendant of the agent: %q, want agent_not_allowed", code)
	}
	if code := f.do(child, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: passphrase}, nil); code != "agent_not_allowed" {
		t.Errorf("a descendant of the agent with the passphrase: %q, want agent_not_allowed", code)
	}

	// A pseudo-terminal that an agent made after leaving its ancestry: nothing tells it from a person's but the
	// passphrase.
	loose := desk.Caller{Surface: desk.SurfaceSocket, Peer: wire.Peer{UID: os.Getuid(), Complete: true, TTY: 34817, Session: 888888, Chain: []wire.Process{{PID: 888888, Start: 5}, {PID: 1, Start: 1}}}}
	if code := f.do(loose, wire.ActionQuestionReply, reply, nil); code != "presence_required" {
		t.Errorf("a terminal without the passphrase: %q, want presence_required", code)
	}
	if code := f.do(loose, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: "guess"}, nil); code != "passphrase_wrong" {
		t.Errorf("a wrong passphrase: %q, want passphrase_wrong", code)
	}
	if code := f.do(loose, wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: q.Session, Mode: "bypass"}, nil); code != "presence_required" {
		t.Errorf("setting the mode without presence: %q, want presence_required", code)
	}
	if code := f.do(desk.Caller{Surface: desk.SurfaceSocket}, wire.ActionQuestionReply, reply, nil); code == "" {
		t.Error("nobody in particular answered")
	}

	person := desk.Caller{Surface: desk.SurfaceSocket, Connection: 7, Peer: wire.Peer{UID: os.Getuid(), Complete: true, TTY: 34818, Session: 777777, Chain: []wire.Process{{PID: 777778, Start: 9}, {PID: 777777, Start: 8}}}}
	f.clock.advance(time.Minute) // past the delay that a wrong passphrase costs
	f.must(person, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: passphrase}, nil)
	elsewhere := person
	elsewhere.Peer.TTY, elsewhere.Connection = 34819, 8
	if code := f.do(elsewhere, wire.ActionQuestionReply, reply, nil); code != "presence_required" {
		t.Errorf("another terminal: %q, want presence_required", code)
	}
	// Everything else on the terminal where the passphrase was typed is not the owner: an agent that nobody connected
	// answered in the owner's place like this. Our own command line, just started by the shell itself, is.
	shell := person.Peer.Chain[len(person.Peer.Chain)-1]
	answerer := wire.Process{PID: 777790, Start: bootTicks(t), Exe: "/opt/countersign/countersign"}
	for name, chain := range map[string][]wire.Process{
		"another program":             {{PID: 777791, Start: bootTicks(t), Exe: "/usr/bin/codex"}, shell},
		"ours, below another program": {answerer, {PID: 777791, Start: 9, Exe: "/usr/bin/make"}, shell},
		"ours, started long ago":      {{PID: 777790, Start: 10, Exe: answerer.Exe}, shell},
	} {
		other := person
		other.Connection, other.Peer.Chain = 9, chain
		if code := f.do(other, wire.ActionQuestionReply, reply, nil); code != "presence_required" {
			t.Errorf("%s: %q, want presence_required", name, code)
		}
	}
	f.show(q)
	next := person
	next.Connection, next.Peer.Chain = 10, []wire.Process{answerer, shell}
	f.must(next, wire.ActionQuestionReply, reply, nil)
}

func TestPresenceEnds(t *testing.T) {
	f := newFixture(t, "")
	if err := f.desk.SetPassphrase(desk.NewSecret(passphrase)); err != nil {
		t.Fatal(err)
	}
	person := desk.Caller{Surface: desk.SurfaceSocket, Connection: 7, Peer: wire.Peer{UID: os.Getuid(), Complete: true, TTY: 34818, Session: 777777, Chain: []wire.Process{{PID: 777777, Start: 8}}}}
	f.must(person, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: passphrase}, nil)
	reply := wire.QuestionReply{ID: uuid.NewString(), Version: 1, Offer: 1}
	if code := f.do(person, wire.ActionQuestionReply, reply, nil); code != "unknown_question" {
		t.Errorf("with presence: %q, want unknown_question", code)
	}
	f.clock.advance(16 * time.Minute)
	if code := f.do(person, wire.ActionQuestionReply, reply, nil); code != "presence_required" {
		t.Errorf("after 16 minutes: %q, want presence_required", code)
	}
}

func TestDenyRuleAndModesDecideBeforeAnybodyIsAsked(t *testing.T) {
	f := newFixture(t, `deny = ["bash(git push:*)"]`)
	status := f.bash("true && git push origin main")
	if status.Outcome != "denied" || status.Reason != "rule_deny" || !strings.Contains(status.Message, "git push") {
		t.Errorf("deny rule: %+v", status)
	}
	if len(f.questions()) != 0 {
		t.Error("somebody was asked about a denied call")
	}
	var sessions wire.Sessions
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{}, &sessions)
	if len(sessions.Sessions) != 1 {
		t.Fatalf("sessions %+v", sessions)
	}
	s := sessions.Sessions[0]
	f.must(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: s.ID, Mode: "plan", ExpectedVersion: s.ModeVersion}, nil)
	if code := f.do(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: s.ID, Mode: "bypass", ExpectedVersion: s.ModeVersion}, nil); code != "conflict" {
		t.Errorf("a stale mode change: %q, want conflict", code)
	}
	if status := f.propose("write", map[string]any{"path": "new.txt", "content": "x"}); status.Reason != "plan_readonly" || status.Outcome != "denied" {
		t.Errorf("a write in plan mode: %+v", status)
	}
}

// A person pressed Ctrl-C in the agent: its hook died, the card stayed for a day, and allowing it said "Allowed." and did
// nothing. A client that is only cut off comes back; one that died does not, and its wait ends as cancelled, not denied.
func TestWaitEndsWithItsClient(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	hook := exec.Command("sleep", "60")
	if err := hook.Start(); err != nil {
		t.Fatal(err)
	}
	agent := f.agent
	f.agent.Connection = 5
	f.agent.Peer.Chain = append([]wire.Process{processOf(t, hook.Process.Pid)}, agent.Peer.Chain...)
	status := f.bash("touch x")
	f.desk.Gone(f.agent)
	time.Sleep(4 * time.Second)
	if len(f.questions()) != 1 {
		t.Fatal("the wait of a client that still runs was ended")
	}
	_ = hook.Process.Kill()
	_ = hook.Wait()
	for range 200 {
		if len(f.questions()) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.agent = agent
	if status = f.await(status.Call); status.Outcome != "cancelled" {
		t.Errorf("status %+v, want cancelled", status)
	}
}

// A desk that has nobody to miss and nothing to close does not look at the clock every few seconds.
func TestADeskAtRestSleeps(t *testing.T) {
	f := newFixture(t, "")
	if f.desk.Wakes() {
		t.Error("an empty desk wakes by itself")
	}
	f.bash("touch a")
	if !f.desk.Wakes() {
		t.Error("a session with a question that expires is not looked after")
	}
}
