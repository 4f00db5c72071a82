package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"countersign/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const callID = "0190d6a0-0000-7000-8000-000000000001"

// fake is a core. Every action it does not know fails the test; what it was asked is kept.
type fake struct {
	t       *testing.T
	actions map[string]func(ctx context.Context, in any) (any, error)

	mu     sync.Mutex
	asked  []asked
	dialed int
	closed int
}

type asked struct {
	action string
	in     any
}

func (f *fake) Do(ctx context.Context, action string, in, out any) error {
	f.mu.Lock()
	f.asked = append(f.asked, asked{action, in})
	do := f.actions[action]
	f.mu.Unlock()
	if do == nil {
		f.t.Errorf("the core was asked for %s", action)
		return &wire.Error{Code: "unknown_action"}
	}
	result, err := do(ctx, in)
	if err != nil {
		return err
	}
	data, err := json.Marshal(result)
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *fake) connect(context.Context) (Desk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialed++
	return f, nil
}

// inputs returns what an action was asked with.
func (f *fake) inputs(action string) []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []any
	for _, a := range f.asked {
		if a.action == action {
			out = append(out, a.in)
		}
	}
	return out
}

// always answers with one value.
func always(v any) func(context.Context, any) (any, error) {
	return func(context.Context, any) (any, error) { return v, nil }
}

// refuse answers with a code.
func refuse(code string) func(context.Context, any) (any, error) {
	return func(context.Context, any) (any, error) { return nil, &wire.Error{Code: code} }
}

// hang answers when the client gives up.
func hang(ctx context.Context, _ any) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// sequence answers with one function after the other; the last one stays.
func sequence(steps ...func(context.Context, any) (any, error)) func(context.Context, any) (any, error) {
	var mu sync.Mutex
	return func(ctx context.Context, in any) (any, error) {
		mu.Lock()
		step := steps[0]
		if len(steps) > 1 {
			steps = steps[1:]
		}
		mu.Unlock()
		return step(ctx, in)
	}
}

var errBroken = errors.New("connection reset")

func broken(context.Context, any) (any, error) { return nil, errBroken }

var (
	waiting  = wire.CallStatus{Call: callID, State: "waiting", Here: true, Boundary: "enforced"}
	allowed  = wire.CallStatus{Call: callID, State: "allowed", Here: true, Boundary: "enforced"}
	released = wire.CallStatus{Call: callID, State: "released", Boundary: "any"}
)

func newFake(t *testing.T, actions map[string]func(context.Context, any) (any, error)) *fake {
	return &fake{t: t, actions: actions}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "event", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func options(f *fake, event []byte, out io.Writer) HookOptions {
	return HookOptions{Stdin: bytes.NewReader(event), Stdout: out, Binary: "/opt/countersign", Home: "/home/user/desk", Serve: "COUNTERSIGN_HOME=/home/user/desk /opt/countersign serve", Connect: f.connect}
}

// run runs the hook and returns what it printed, without the line end.
func run(t *testing.T, f *fake, event []byte, change ...func(*HookOptions)) string {
	t.Helper()
	var out bytes.Buffer
	o := options(f, event, &out)
	for _, c := range change {
		c(&o)
	}
	if status := Hook(t.Context(), o); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if !json.Valid(out.Bytes()) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("printed %q", out.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func denied(t *testing.T, got string, reason ...string) {
	t.Helper()
	if !strings.Contains(got, `"permissionDecision":"deny"`) && !strings.Contains(got, `"behavior":"deny"`) {
		t.Errorf("not denied: %s", got)
	}
	for _, r := range reason {
		if !strings.Contains(got, r) {
			t.Errorf("%s\nlacks %q", got, r)
		}
	}
}

type actions = map[string]func(context.Context, any) (any, error)

func TestPreToolUseAnswers(t *testing.T) {
	line := FixedLine("/opt/countersign", "/home/user/desk", callID)
	quoted, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	command := strings.NewReplacer(`\u0026`, "&").Replace(string(quoted))
	for _, tc := range []struct {
		name, event string
		status      wire.CallStatus
		want        string
	}{
		{
			"an allowed command becomes the fixed line, its other input stays", "PreToolUse.Bash", allowed,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":` + command +
				`,"timeout":5000,"description":"make a directory","run_in_background":true}}}`,
		},
		{
			"the owner's note goes with it", "PreToolUse.Bash",
			wire.CallStatus{Call: callID, State: "allowed", Here: true, Boundary: "enforced", Comment: "only <this> once"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":` + command +
				`,"timeout":5000,"description":"make a directory","run_in_background":true},"additionalContext":"Countersign: allowed, with the owner's note: only <this> once"}}`,
		},
		{
			"a released tool runs as it is", "PreToolUse.Write", released,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
		},
		{
			"a released command runs as it is", "PreToolUse.Bash", released,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
		},
		{
			"a denial says why", "PreToolUse.Bash",
			wire.CallStatus{Call: callID, State: "finished", Outcome: "denied", Message: "A deny rule matches (bash(rm:*))."},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A deny rule matches (bash(rm:*))."}}`,
		},
		{
			"the owner's note goes with a denial", "PreToolUse.Write",
			wire.CallStatus{Call: callID, State: "finished", Outcome: "refused", Message: "The owner refused.", Comment: "use the other file"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The owner refused. The owner's note: use the other file"}}`,
		},
		{
			"a note that the sentence holds is not repeated", "PreToolUse.Write",
			wire.CallStatus{Call: callID, State: "finished", Outcome: "refused", Message: "Refused. The owner's note: no", Comment: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Refused. The owner's note: no"}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFake(t, actions{wire.ActionAdmitCall: always(tc.status)})
			want(t, run(t, f, fixture(t, tc.event)), tc.want)
			if f.closed != 1 {
				t.Errorf("closed %d times", f.closed)
			}
		})
	}
}

func TestAdmissionHoldsWhatTheEventSays(t *testing.T) {
	f := newFake(t, actions{wire.ActionAdmitCall: always(allowed)})
	run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) { o.Deadline = time.Hour })
	got := f.inputs(wire.ActionAdmitCall)[0].(wire.AdmitCall)
	var args map[string]any
	if err := json.Unmarshal(got.Args, &args); err != nil || args["command"] != "mkdir -p sub; cd sub" || len(args) != 4 {
		t.Errorf("%s, %v", got.Args, err)
	}
	got.Args = nil
	if expected := (wire.AdmitCall{
		Agent: "claude", SessionClaim: "00000000-0000-4000-8000-000000000001", Execution: "00000000-0000-4000-8000-000000000002",
		ToolCall: "toolu_0001_0", Tool: "Bash", Cwd: "/home/user/project", Interactive: true, ExpiresInSeconds: 3540,
	}); !reflect.DeepEqual(got, expected) {
		t.Errorf("%+v", got)
	}
}

// Whatever a core says that is not exactly an allow is a denial.
func TestOnlyWhatIsRecognisedAllows(t *testing.T) {
	for _, tc := range []struct {
		name, event string
		status      wire.CallStatus
		cancelled   bool
	}{
		{"nothing", "PreToolUse.Bash", wire.CallStatus{}, false},
		{"unknown state", "PreToolUse.Bash", wire.CallStatus{Call: callID, State: "ALLOWED", Here: true, Boundary: "enforced"}, false},
		{"running already", "PreToolUse.Bash", wire.CallStatus{Call: callID, State: "running", Here: true, Boundary: "enforced"}, false},
		{"ran already", "PreToolUse.Write", wire.CallStatus{Call: callID, State: "finished", Outcome: "reported"}, false},
		{"allowed, but not released", "PreToolUse.Write", wire.CallStatus{Call: callID, State: "allowed", Boundary: "any"}, true},
		{"allowed, and not to run here", "PreToolUse.Bash", wire.CallStatus{Call: callID, State: "allowed"}, true},
		{"released although it is to run here", "PreToolUse.Bash", wire.CallStatus{Call: callID, State: "released", Here: true, Boundary: "enforced"}, false},
		{"a boundary this tool cannot be brought into", "PreToolUse.Write", allowed, true},
		{"an id that is none", "PreToolUse.Bash", wire.CallStatus{Call: "1; rm -rf x", State: "allowed", Here: true, Boundary: "enforced"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFake(t, actions{wire.ActionAdmitCall: always(tc.status), wire.ActionCancelCall: always(tc.status)})
			denied(t, run(t, f, fixture(t, tc.event)))
			if got := len(f.inputs(wire.ActionCancelCall)) == 1; got != tc.cancelled {
				t.Errorf("cancelled: %v", got)
			}
		})
	}
}

func TestWaitsForTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ context.Context, in any) (any, error) {
			w := in.(wire.AwaitCall)
			if w.Call != callID || w.WaitMS <= 0 || w.WaitMS > wire.MaxWaitMS {
				t.Errorf("%+v", w)
			}
			time.Sleep(time.Duration(w.WaitMS) * time.Millisecond)
			return waiting, nil
		}
		f := newFake(t, actions{
			wire.ActionAdmitCall: always(waiting),
			wire.ActionAwaitCall: sequence(slow, slow, slow, always(allowed)),
		})
		began := time.Now()
		got := run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) { o.Poll = time.Hour })
		if !strings.Contains(got, `"allow"`) || time.Since(began) != 165*time.Second {
			t.Errorf("%s after %v", got, time.Since(began))
		}
	})
}

// A core that answers a wait at once is not asked in a circle.
func TestAwaitKeepsAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, actions{wire.ActionAdmitCall: always(waiting), wire.ActionAwaitCall: always(waiting), wire.ActionCancelCall: always(waiting)})
		denied(t, run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) { o.Deadline = time.Minute }), "Nobody answered")
		if n := len(f.inputs(wire.ActionAwaitCall)); n > 250 {
			t.Errorf("asked %d times in a minute", n)
		}
	})
}

// kill -9 of the core while the owner is asked: the hook finds the restarted one and admits under the same key.
func TestReattaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, actions{
			wire.ActionAdmitCall: sequence(always(waiting), broken, always(waiting)),
			wire.ActionAwaitCall: sequence(broken, always(allowed)),
		})
		down := time.Now().Add(90 * time.Second)
		first := true
		got := run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) {
			o.Connect = func(ctx context.Context) (Desk, error) {
				if !first && time.Now().Before(down) {
					return nil, wire.ErrNoCore
				}
				first = false
				return f.connect(ctx)
			}
		})
		if !strings.Contains(got, `"permissionDecision":"allow"`) {
			t.Error(got)
		}
		admissions := f.inputs(wire.ActionAdmitCall)
		if len(admissions) != 3 || !reflect.DeepEqual(admissions[0], admissions[1]) || !reflect.DeepEqual(admissions[0], admissions[2]) {
			t.Errorf("admissions differ: %+v", admissions)
		}
	})
}

func TestGivesUpOnALostCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, actions{wire.ActionAdmitCall: always(waiting), wire.ActionAwaitCall: broken})
		began, first := time.Now(), true
		got := run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) {
			o.Reattach = 5 * time.Minute
			o.Connect = func(ctx context.Context) (Desk, error) {
				if !first {
					return nil, wire.ErrNoCore
				}
				first = false
				return f.connect(ctx)
			}
		})
		denied(t, got, "was lost", "COUNTERSIGN_HOME=/home/user/desk /opt/countersign serve")
		if took := time.Since(began); took > 5*time.Minute || took < 4*time.Minute {
			t.Errorf("after %v", took)
		}
	})
}

func TestNoCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			err  error
			want string
		}{
			{wire.ErrNoCore, "run COUNTERSIGN_HOME=/home/user/desk /opt/countersign serve"},
			{&wire.DialError{Socket: "/s", Err: wire.ErrWrongCore, Fix: "find out who listens there"}, "To mend it: find out who listens there."},
			{nil, "no core is running"},
		} {
			for _, event := range []string{"PreToolUse.Bash", "PermissionRequest.Write"} {
				began := time.Now()
				got := run(t, newFake(t, nil), fixture(t, event), func(o *HookOptions) {
					o.Connect = func(context.Context) (Desk, error) { return nil, tc.err }
				})
				denied(t, got, tc.want)
				if time.Since(began) > time.Second {
					t.Errorf("took %v", time.Since(began))
				}
			}
		}
	})
}

func TestHungCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, actions{wire.ActionAdmitCall: hang, wire.ActionPermissionCall: hang, wire.ActionReportCall: hang, wire.ActionSessionEvent: hang})
		for _, event := range []string{"PreToolUse.Bash", "PermissionRequest.Write", "PostToolUse.Bash", "SessionStart", "Stop"} {
			began := time.Now()
			got := run(t, f, fixture(t, event))
			if strings.HasPrefix(event, "P") && strings.Contains(event, "e") && !strings.HasPrefix(event, "Post") {
				denied(t, got)
			}
			if took := time.Since(began); took > 55*time.Second {
				t.Errorf("%s took %v", event, took)
			}
		}
	})
}

// A core that admits and then hangs is tried again until the hook's own deadline.
func TestHungWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, actions{wire.ActionAdmitCall: always(waiting), wire.ActionAwaitCall: hang, wire.ActionCancelCall: hang})
		began := time.Now()
		denied(t, run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) { o.Deadline = 10 * time.Minute }), "Nobody answered")
		if took := time.Since(began); took > 10*time.Minute+farewell {
			t.Errorf("took %v", took)
		}
	})
}

func TestErrorCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for code, words := range map[string]string{
			"sandbox_unavailable": "not available on this machine", "session_paused": "resume it at the desk",
			"admission_mismatch": "another call", "brand_new": "the desk answered brand_new", wire.CodeBusy: "busy",
		} {
			f := newFake(t, actions{wire.ActionAdmitCall: refuse(code)})
			denied(t, run(t, f, fixture(t, "PreToolUse.Bash")), words)
			if n := len(f.inputs(wire.ActionAdmitCall)); (n > 1) != (code == wire.CodeBusy) {
				t.Errorf("%s: asked %d times", code, n)
			}
		}
		f := newFake(t, actions{wire.ActionAdmitCall: sequence(refuse(wire.CodeBusy), refuse("cancelled"), always(released))})
		if got := run(t, f, fixture(t, "PreToolUse.Write")); !strings.Contains(got, `"allow"`) {
			t.Error(got)
		}
		f = newFake(t, actions{wire.ActionAdmitCall: always(waiting), wire.ActionAwaitCall: refuse("unknown_call")})
		denied(t, run(t, f, fixture(t, "PreToolUse.Write")), "does not know this call")
		f = newFake(t, actions{wire.ActionAdmitCall: always(waiting), wire.ActionAwaitCall: always(wire.CallStatus{Call: "other", State: "released"})})
		denied(t, run(t, f, fixture(t, "PreToolUse.Write")), "another call")
	})
}

func TestWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, actions{wire.ActionAdmitCall: always(waiting), wire.ActionAwaitCall: hang, wire.ActionCancelCall: always(waiting)})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var out bytes.Buffer
		if status := Hook(ctx, options(f, fixture(t, "PreToolUse.Bash"), &out)); status != 0 {
			t.Error(status)
		}
		denied(t, out.String(), "withdrawn")
		if got := f.inputs(wire.ActionCancelCall); len(got) != 1 || got[0].(wire.CancelCall).Call != callID {
			t.Errorf("cancelled %+v", got)
		}
	})
}

func TestPanicDenies(t *testing.T) {
	problem := ""
	f := newFake(t, actions{wire.ActionAdmitCall: func(context.Context, any) (any, error) { panic("oops") }})
	denied(t, run(t, f, fixture(t, "PreToolUse.Bash"), func(o *HookOptions) { o.Log = func(s string) { problem = s } }), "fault of Countersign")
	if !strings.Contains(problem, "oops") {
		t.Errorf("logged %q", problem)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestUnwritableAnswerIsADenial(t *testing.T) {
	f := newFake(t, actions{wire.ActionAdmitCall: always(released)})
	if status := Hook(t.Context(), options(f, fixture(t, "PreToolUse.Write"), failingWriter{})); status != 2 {
		t.Errorf("exit status %d", status)
	}
}

func TestAbsentOwner(t *testing.T) {
	f := newFake(t, actions{wire.ActionAdmitCall: always(released)})
	run(t, f, fixture(t, "PreToolUse.Write"), func(o *HookOptions) { o.Absent = true })
	if f.inputs(wire.ActionAdmitCall)[0].(wire.AdmitCall).Interactive {
		t.Error("the call says that an owner is expected")
	}
}
