package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// modelServer answers chat completions with the model's text, and remembers what it was sent.
func modelServer(t *testing.T, status int, text string) (url string, got *http.Request, body *bytes.Buffer) {
	t.Helper()
	got, body = new(http.Request), new(bytes.Buffer)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = *r
		_, _ = body.ReadFrom(r.Body)
		w.WriteHeader(status)
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":`+string(quoted)+`}}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, got, body
}

// classifierDesk is a desk's directory whose configuration names a classifier, and no keyring.
func classifierDesk(t *testing.T, url string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("COUNTERSIGN_HOME", home)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:none")
	for _, dir := range []string{"config", "state"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := ""
	if url != "" {
		text = "[classifier]\nkind = \"openai\"\nurl = \"" + url + "\"\nmodel = \"m\"\n"
	}
	if err := os.WriteFile(filepath.Join(home, "config", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func runClassifier(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(append([]string{"classifier"}, args...), &streams{In: os.Stdin, Out: &o, Err: &e})
	return code, o.String(), e.String()
}

func TestClassifierTest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		answer string
		args   []string
		code   int
		want   []string
		sent   bool
	}{
		{"safe", 200, `{"safe":true,"reason":"a build"}`, []string{"--", "make"}, 0, []string{"SAFE  a build", "would run", "no key is kept", `"command":"make"`, "/chat/completions"}, true},
		{"not safe", 200, `{"safe":false,"reason":"it deletes \u001b[31m"}`, []string{"--", "rm -r x"}, 0, []string{"NOT SAFE  it deletes", "would be asked"}, true},
		{"a secret", 200, `{"safe":true,"reason":""}`, []string{"--", "TOKEN=hunter2abc make"}, 0, []string{"TOKEN=[masked:credential] make"}, true},
		{"only shown", 200, "", []string{"--dry-run", "--", "make"}, 0, []string{"Nothing was sent.", `"command":"make"`}, false},
		{"nonsense", 200, "yes", []string{"--", "make"}, 1, []string{"NO ANSWER  malformed", "does not count"}, true},
		{"wrong key", 401, "", []string{"--", "make"}, 1, []string{"NO ANSWER  http_401", "set-key"}, true},
		{"server broken", 503, "", []string{"--", "make"}, 1, []string{"NO ANSWER  http_503", "classifier.url"}, true},
		{"too long", 200, "", []string{"--", "echo " + strings.Repeat("x", 40<<10)}, 1, []string{"NO ANSWER  too_long", "nothing was sent"}, false},
		{"another tool", 200, `{"safe":false,"reason":"x"}`, []string{"--tool", "WebFetch", "--", "https://example.org/x"}, 0, []string{`"hosts":["example.org"]`}, true},
		{"no command", 200, "", []string{}, 2, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			url, _, body := modelServer(t, tt.status, tt.answer)
			classifierDesk(t, url)
			code, out, errs := runClassifier(t, append([]string{"test"}, tt.args...)...)
			if code != tt.code || (body.Len() > 0) != tt.sent {
				t.Fatalf("status %d, %d bytes sent\n%s%s", code, body.Len(), out, errs)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("lacks %q:\n%s", want, out)
				}
			}
			if strings.Contains(out+body.String(), "hunter2abc") || strings.Contains(out, "\x1b") {
				t.Errorf("a secret or a control character:\n%s", out)
			}
		})
	}
}

func TestClassifierProblems(t *testing.T) {
	t.Chdir(t.TempDir())
	classifierDesk(t, "")
	if code, _, errs := runClassifier(t, "test", "--", "make"); code != 1 || !strings.Contains(errs, "[classifier]") {
		t.Errorf("none: %d %s", code, errs)
	}
	classifierDesk(t, "http://example.org")
	if code, _, errs := runClassifier(t, "test", "--", "make"); code != 1 || !strings.Contains(errs, "https://") {
		t.Errorf("http: %d %s", code, errs)
	}
	if runtime.GOOS == "linux" {
		// Over the network no call is sent without looking for its key: the answer would only be that it lacks.
		classifierDesk(t, "https://example.org")
		if code, _, errs := runClassifier(t, "test", "--", "make"); code != 1 || !strings.Contains(errs, "keyring") || strings.Contains(errs, "identity.store") {
			t.Errorf("no keyring: %d %s", code, errs)
		}
	}
	t.Setenv("COUNTERSIGN_HOME", filepath.Join(t.TempDir(), "none"))
	if code, _, errs := runClassifier(t, "remove-key"); code != 1 || !strings.Contains(errs, "no desk is here yet") {
		t.Errorf("no desk: %d %s", code, errs)
	}
}

// The key goes from a file or the terminal into the keyring and from there into the header, and is never shown.
func TestClassifierKey(t *testing.T) {
	for _, name := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	url, got, _ := modelServer(t, 200, `{"safe":true,"reason":"a build"}`)
	classifierDesk(t, url)
	rt, err := os.MkdirTemp("", "rt") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(rt) }()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hunter2abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := func(script string) *exec.Cmd {
		cmd := exec.Command("dbus-run-session", "--", "sh", "-c",
			`printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null || exit 9; c="countersign classifier"; `+script)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{
			"HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + rt, "COUNTERSIGN_HOME=" + os.Getenv("COUNTERSIGN_HOME"),
			"PATH=" + programDir(t) + ":" + os.Getenv("PATH"), "KEY=" + key,
		}
		return cmd
	}
	out, err := session(`$c remove-key; $c set-key <$KEY && $c test -- make && $c remove-key && $c test -- make; echo 'two words' | $c set-key`).CombinedOutput()
	text := string(out)
	for _, want := range []string{"no key for the classifier", "Kept in the keyring", "with the key", "SAFE  a build", "Removed", "no key is kept", "cannot be a key"} {
		at := strings.Index(text, want)
		if at < 0 {
			t.Fatalf("never said %q (%v):\n%s", want, err, out)
		}
		text = text[at:]
	}
	if bytes.Contains(out, []byte("hunter2abc")) {
		t.Errorf("the key is shown:\n%s", out)
	}
	if h := got.Header.Get("Authorization"); h != "" {
		t.Errorf("after it was removed: %s", h)
	}

	cmd := session(`$c set-key && $c test -- make`)
	terminal, code := typing(t, cmd, said{"Key of the classifier's endpoint: ", "hunter2xyz\n"})
	if code != 0 || strings.Contains(terminal, "hunter2xyz") || got.Header.Get("Authorization") != "Bearer hunter2xyz" {
		t.Errorf("status %d, %v\n%s", code, got.Header, terminal)
	}
}
