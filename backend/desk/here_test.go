package desk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

// A PowerShell text once was judged as PowerShell, under PowerShell's rules, and then given to bash: what a deny rule for
// bash forbade, an allow rule for PowerShell let run.
func TestAnotherShellsTextIsNotGivenToBash(t *testing.T) {
	f := newFixture(t, "allow = [\"powershell(rm:*)\"]\ndeny = [\"bash(rm:*)\"]\n")
	victim := filepath.Join(f.project, "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in := f.admission("1", "powershell", map[string]any{"command": "rm victim"})
	if code := f.do(f.agent, wire.ActionAdmitCall, in, nil); code != "command_unclear" {
		t.Errorf("to be run by the desk: %q", code)
	}
	in.Runs = wire.RunsAgent
	var status wire.CallStatus
	f.must(f.agent, wire.ActionAdmitCall, in, &status)
	if status.Here || status.Boundary != string(policy.BoundaryAny) {
		t.Errorf("%+v", status)
	}
	if _, _, code := f.run(status.Call); code != "not_run_here" {
		t.Errorf("redeemed: %q", code)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
}

// A call whose arguments two programs may read differently is not run here at all.
func TestACommandThatIsNotOneTextIsRefused(t *testing.T) {
	f := newFixture(t, "allow = [\"bash\"]\n")
	for name, args := range map[string]map[string]any{
		"nothing":         {},
		"two commands":    {"command": "ls", "cmd": "rm -rf x"},
		"a number":        {"command": 7},
		"two directories": {"command": "ls", "cwd": ".", "workdir": ".."},
		"no text beside":  {"command": "ls", "script": map[string]any{"a": 1}},
	} {
		if code := f.do(f.agent, wire.ActionAdmitCall, f.admission(name, "bash", args), nil); code != "command_unclear" {
			t.Errorf("%s: %q", name, code)
		}
	}
}

// A command that names its own directory once was judged there and run in the session's: a safe read of one file became
// the read of another.
func TestACommandRunsInTheDirectoryItWasJudgedIn(t *testing.T) {
	f := newFixture(t, "deny = [\"read(sub/**)\"]\nallow = [\"bash(cat:*)\"]\n")
	f.boxed()
	sub := filepath.Join(f.project, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, text := range map[string]string{f.project: "open", sub: "closed"} {
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := f.admission("1", "bash", map[string]any{"command": "cat a.txt", "workdir": f.project})
	in.Cwd = sub
	var status wire.CallStatus
	f.must(f.agent, wire.ActionAdmitCall, in, &status)
	if result, out, code := f.run(status.Call); code != "" || out != "open" {
		t.Errorf("%q %q %+v", code, out, result)
	}
	in = f.admission("2", "bash", map[string]any{"command": "cat a.txt", "workdir": sub})
	f.must(f.agent, wire.ActionAdmitCall, in, &status)
	if status.Outcome != "denied" {
		t.Errorf("%+v", status)
	}
}

// A list of words runs as those words, and as nothing else.
func TestAListOfWordsRunsAsItStands(t *testing.T) {
	f := newFixture(t, "allow = [\"bash(printf:*)\"]\n")
	f.boxed()
	status := f.propose("bash", map[string]any{"command": []string{"printf", "%s|", "a b", "$HOME", "x;y"}})
	if _, out, code := f.run(status.Call); code != "" || out != "a b|$HOME|x;y|" {
		t.Errorf("%q %q", code, out)
	}
}

// Where the owner lets commands run although no boundary can be shown, nothing that depends on a boundary allows: no boxed
// read, and no rule that was made for calls that run boxed.
func TestWithoutABoundaryNothingCountsAsEnforced(t *testing.T) {
	f := newFixture(t, "[sandbox]\non_missing = \"warn\"\n[decision]\nboxed_reads = true\n")
	f.close()
	f.init = filepath.Join(f.home, "missing")
	f.open()
	status := f.bash("touch made")
	if status.State != "waiting" || !status.Here || status.Boundary != string(policy.BoundaryAny) {
		t.Fatalf("%+v", status)
	}
	q := f.only()
	if !strings.Contains(string(q.Detail), `"boundary":"any"`) {
		t.Errorf("%s", q.Detail)
	}
	f.allow(q, 1, "")
	if _, _, code := f.run(status.Call); code != "" {
		t.Errorf("the owner's own override: %q", code)
	}
	if _, err := os.Stat(filepath.Join(f.project, "made")); err != nil {
		t.Error(err)
	}
}

// A call that was decided inside a boundary does not run without one, also where the owner lets others.
func TestWhatWasDecidedBoundedDoesNotRunUnbounded(t *testing.T) {
	f := newFixture(t, "allow = [\"bash(touch:*)\"]\n[sandbox]\non_missing = \"warn\"\n")
	f.boxed()
	status := f.bash("touch made")
	f.close()
	f.init = filepath.Join(f.home, "missing")
	f.open()
	if _, _, code := f.run(status.Call); code != "sandbox_unavailable" {
		t.Errorf("%q", code)
	}
	if _, err := os.Stat(filepath.Join(f.project, "made")); err == nil {
		t.Error("it ran")
	}
}
