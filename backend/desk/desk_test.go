package desk_test

import (
	"bytes"
	"context"
	"encoding/json"

	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/backend/config"
	"countersign/backend/desk"
	"countersign/backend/sandbox/sandboxtest"
	"countersign/backend/server"
	"countersign/backend/wire"
)

const passphrase = "correct horse battery"

// manualClock is a wall clock that a test moves.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// testAgents takes this process for the agent's root process, else the peer itself; nobody else is an agent.
type testAgents struct{}

func (testAgents) Match(_ string, chain []wire.Process) (int, bool) {
	for i, p := range chain {
		if p.PID == os.Getpid() {
			return i, true
		}
	}
	return 0, true
}
func (testAgents) Find([]wire.Process) (string, bool) { return "", false }

// fixture is a desk over a scratch project, with an agent that is this very process.
type fixture struct {
	t          *testing.T
	home       string
	project    string
	desk       *desk.Desk
	clock      *manualClock
	rules      string // [rules] of the configuration
	init       string // the sandbox's init; "" the real one
	classifier desk.Classifier
	agent      desk.Caller
	turn       string
}

func newFixture(t *testing.T, rules string) *fixture {
	t.Helper()
	home, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	peer, err := server.Self()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		t: t, home: home, project: filepath.Join(home, "project"), rules: rules, turn: uuid.NewString(),
		clock: &manualClock{now: time.Now().UTC()},
		agent: desk.Caller{Peer: peer, Connection: 1, Surface: desk.SurfaceSocket},
	}
	if err := os.Mkdir(f.project, 0o700); err != nil {
		t.Fatal(err)
	}
	// The agent works in its project: a session's roots are where its root process started.
	t.Chdir(f.project)
	f.open()
	t.Cleanup(func() { f.close() })
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	dirs, err := config.Resolve(filepath.Join(f.home, "cs"), func(string) string { return "" })
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.MkdirAll(dirs.Config, 0o700); err != nil {
		f.t.Fatal(err)
	}
	file := filepath.Join(dirs.Config, "config.toml")
	if err := os.WriteFile(file, []byte("[identity]\nstore = \"file\"\n[rules]\n"+f.rules), 0o600); err != nil {
		f.t.Fatal(err)
	}
	conf, err := config.Load(file)
	if err != nil {
		f.t.Fatal(err)
	}
	init := f.init
	if init == "" {
		init = sandboxtest.Init(f.t)
	}
	f.desk, err = desk.Open(context.Background(), desk.Options{
		Dirs: dirs, Config: conf, OwnerHome: "/home/owner", Binary: "/opt/countersign/countersign", Init: init,
		Agents: testAgents{}, ManagedRules: f.managed(), Classifier: f.classifier, Create: true, ThrowAway: true, Clock: f.clock,
		Passphrase: func() (desk.Secret, error) { return desk.NewSecret(passphrase), nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// managed is this desk's file of an administrator's rules.
func (f *fixture) managed() string { return filepath.Join(f.home, "managed.toml") }

func (f *fixture) close() {
	if f.desk == nil {
		return
	}
	if err := f.desk.Close(); err != nil {
		f.t.Error(err)
	}
	f.desk = nil
}

// restart is a new run of the core over the same state.
func (f *fixture) restart() {
	f.t.Helper()
	f.close()
	f.open()
}

// do runs one action and returns its error code, "" when it was applied.
func (f *fixture) do(c desk.Caller, action string, in, out any, files ...*os.File) string {
	f.t.Helper()
	return f.doAs(uuid.Must(uuid.NewV7()).String(), c, action, in, out, files...)
}

func (f *fixture) doAs(command string, c desk.Caller, action string, in, out any, files ...*os.File) string {
	f.t.Helper()
	args, err := json.Marshal(in)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reply := f.desk.Do(ctx, c, wire.Request{Action: action, CommandID: command, Args: args}, files)
	if reply.Error != nil {
		f.t.Logf("%s: %v", action, reply.Error)
		if reply.Applied {
			f.t.Errorf("%s: applied and failed", action)
		}
		return reply.Error.Code
	}
	if out != nil {
		if err := json.Unmarshal(reply.Result, out); err != nil {
			f.t.Fatal(err)
		}
	}
	return ""
}

// must runs an action that has to be applied.
func (f *fixture) must(c desk.Caller, action string, in, out any, files ...*os.File) {
	f.t.Helper()
	if code := f.do(c, action, in, out, files...); code != "" {
		f.t.Fatalf("%s: %s", action, code)
	}
}

// propose admits one call of the agent under a new tool call id.
func (f *fixture) propose(tool string, args map[string]any) wire.CallStatus {
	f.t.Helper()
	return f.proposeAs(uuid.NewString(), tool, args)
}

func (f *fixture) proposeAs(toolCall, tool string, args map[string]any) wire.CallStatus {
	f.t.Helper()
	var status wire.CallStatus
	f.must(f.agent, wire.ActionAdmitCall, f.admission(toolCall, tool, args), &status)
	return status
}

func (f *fixture) admission(toolCall, tool string, args map[string]any) wire.AdmitCall {
	f.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		f.t.Fatal(err)
	}
	in := wire.AdmitCall{
		Agent: "tester", SessionClaim: "s1", Execution: f.turn, ToolCall: toolCall, Tool: tool, Args: raw, Cwd: f.project, Interactive: true,
	}
	if tool != "bash" && tool != "Write" {
		in.Runs = wire.RunsDesk
	}
	return in
}

func (f *fixture) bash(command string) wire.CallStatus {
	f.t.Helper()
	return f.propose("bash", map[string]any{"command": command})
}

// only returns the single open question.
func (f *fixture) only() wire.Question {
	f.t.Helper()
	list := f.questions()
	if len(list) != 1 {
		f.t.Fatalf("%d questions are open, want 1", len(list))
	}
	return list[0]
}

func (f *fixture) questions() []wire.Question {
	f.t.Helper()
	var list wire.Questions
	f.must(f.desk.Owner(), wire.ActionListQuestions, wire.ListQuestions{}, &list)
	return list.Questions
}

// show has the owner look at a card for as long as an answer takes.
func (f *fixture) show(q wire.Question) {
	f.t.Helper()
	var shown wire.ShownResult
	f.must(f.desk.Owner(), wire.ActionQuestionShown, wire.QuestionShown{ID: q.ID, Version: q.Version}, &shown)
	f.clock.advance(shown.AnswersAt.Sub(f.clock.Now()))
}

func (f *fixture) allow(q wire.Question, offer int, note string) {
	f.t.Helper()
	f.show(q)
	f.must(f.desk.Owner(), wire.ActionQuestionReply, wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: offer, Comment: note}, nil)
}

func (f *fixture) await(call string) wire.CallStatus {
	f.t.Helper()
	var status wire.CallStatus
	f.must(f.agent, wire.ActionAwaitCall, wire.AwaitCall{Call: call}, &status)
	return status
}

// run redeems an allowed command and returns how it ended, what it printed, and the error code.
func (f *fixture) run(call string) (wire.RunResult, string, string) {
	f.t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		f.t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.Close()
	w2, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	output := make(chan []byte, 1)
	go func() {
		data, _ := io.ReadAll(r)
		output <- data
	}()
	var result wire.RunResult
	code := f.do(f.agent, wire.ActionRedeemCall, wire.RedeemCall{Call: call}, &result, null, w, w2)
	for _, file := range []*os.File{null, w, w2} {
		_ = file.Close()
	}
	select {
	case data := <-output:
		return result, string(bytes.TrimSpace(data)), code
	case <-time.After(20 * time.Second):
		f.t.Fatal("the command's output was never closed: a descriptor leaked")
		return result, "", code
	}
}

// boxed skips a test where the sandbox cannot be shown to hold.
func (f *fixture) boxed() {
	f.t.Helper()
	var st wire.Status
	f.must(f.desk.Owner(), wire.ActionStatus, wire.Empty{}, &st)
	if st.Boundary.Enforcement != "Enforced" {
		f.t.Skipf("no sandbox here: %+v", st.Boundary)
	}
}

func (f *fixture) verify(atLeast int) {
	f.t.Helper()
	v, err := f.desk.Verify()
	if err != nil {
		f.t.Fatal(err)
	}
	if !v.OK || v.Records < atLeast {
		f.t.Fatalf("receipts: %+v, want at least %d good ones", v, atLeast)
	}
}
