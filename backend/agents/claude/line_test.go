package claude

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFixedLine(t *testing.T) {
	got := FixedLine("/opt/countersign", "/home/o'neil/desk", "0190d6a0-0000-7000-8000-000000000001")
	want := `/opt/countersign run --home '/home/o'\''neil/desk' --call 0190d6a0-0000-7000-8000-000000000001; __cs=$?; ` +
		`cd -- "$(/opt/countersign run --home '/home/o'\''neil/desk' --dir 0190d6a0-0000-7000-8000-000000000001)"; (exit $__cs)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFixedLineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, h, id := rapid.String().Draw(t, "binary"), rapid.String().Draw(t, "home"), rapid.String().Draw(t, "id")
		gotB, gotH, gotID, ok := ParseFixedLine(FixedLine(b, h, id))
		if !ok || gotB != b || gotH != h || gotID != id {
			t.Fatalf("got %q %q %q %v", gotB, gotH, gotID, ok)
		}
		c := HookCommand{Binary: b, Home: h, Core: id}
		if got, ok := ParseHookCommand(c.String()); !ok || got != c {
			t.Fatalf("got %+v %v, want %+v", got, ok, c)
		}
	})
}

func TestParseFixedLineTakesNothingElse(t *testing.T) {
	good := FixedLine("/c", "/h", "1")
	for _, line := range []string{
		"", "echo hi", good + " ", " " + good, good + "; rm -rf x", "rm x; " + good,
		strings.Replace(good, "--call 1", "--call 2", 1), strings.Replace(good, "--dir 1", "--dir 1 $(rm x)", 1),
		strings.Replace(good, "/c run", `"/c" run`, 1), strings.Replace(good, "--call 1", "--call '1'", 1),
		strings.Replace(good, "__cs=$?; ", "__cs=$?; __cs=$?; ", 1),
	} {
		if _, _, _, ok := ParseFixedLine(line); ok {
			t.Errorf("%q was taken", line)
		}
	}
}

func TestParseHookCommand(t *testing.T) {
	for line, ours := range map[string]bool{
		"/opt/countersign hook claude":                          true,
		"'/o p/countersign-dev' hook claude --home /h":          true,
		"/opt/cs hook claude --home /h --agent claude --core x": true,
		"/opt/cs hook claude":                                   false,
		"/opt/countersign hook codex":                           false,
		"/opt/countersign run -- x":                             false,
		"echo /opt/countersign hook claude":                     false,
		"/opt/countersign hook claude; rm -rf x":                false,
		"/opt/countersign hook claude $(x)":                     false,
		"":                                                      false,
		"'unfinished":                                           false,
		`C:\Tools\countersign.exe hook claude`:                  false,
		`'C:\Tools\countersign.exe' hook claude --home 'C:\Users\u\desk home'`: true,
	} {
		if _, got := ParseHookCommand(line); got != ours {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// The line behaves in a real shell as the command would: its output, its exit status, the directory it ended in.
func TestFixedLineInAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: the fixed line is not tried in a shell")
	}
	dir := t.TempDir()
	home, sub := filepath.Join(dir, "o'neil $HOME `x`"), filepath.Join(dir, "a sub")
	for _, d := range []string{home, sub} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fake := filepath.Join(home, "countersign")
	script := "#!/bin/sh\n[ \"$1 $2\" = 'run --home' ] && [ \"$3\" = \"$(dirname \"$0\")\" ] || exit 99\n" +
		"if [ \"$4\" = --dir ]; then echo '" + sub + "'; else echo \"ran $5\"; exit 7; fi\n"
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bash, "-c", FixedLine(fake, home, "ID")+"\necho \"$? $PWD\"").CombinedOutput()
	if want := "ran ID\n7 " + sub + "\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}
