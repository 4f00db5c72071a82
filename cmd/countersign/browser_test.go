package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/frontend"
)

// needPages skips where the program under test has no pages, after it has said so.
func needPages(t *testing.T) {
	t.Helper()
	if _, err := frontend.Pages(); err != nil {
		c := freshDesk(t)
		if out, err := c.command("serve", "--background", "--http", "localhost:0").CombinedOutput(); err == nil || !strings.Contains(string(out), "make build") {
			t.Errorf("serve --http without pages: %v\n%s", err, out)
		}
		t.Skip("the pages are not built into the program")
	}
}

// serving starts serve with arguments and returns what it writes, line by line; it ends with the test.
func serving(t *testing.T, c *testCore, env []string, args ...string) <-chan string {
	t.Helper()
	cmd := c.command(append([]string{"serve", "--background"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		for range lines {
			// until it ended
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
	return lines
}

// lineWith waits for a line that holds text.
func lineWith(t *testing.T, lines <-chan string, text string) string {
	t.Helper()
	timeout := time.After(time.Minute)
	var seen []string
	for {
		select {
		case line, ok := <-lines:
			if strings.Contains(line, text) {
				return strings.TrimSpace(line)
			}
			if seen = append(seen, line); !ok {
				t.Fatalf("it never said %q:\n%s", text, strings.Join(seen, "\n"))
			}
		case <-timeout:
			t.Fatalf("it did not say %q within a minute:\n%s", text, strings.Join(seen, "\n"))
		}
	}
}

// get fetches one page and returns its status.
func get(t *testing.T, c *http.Client, url string) int {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// As browsers do: every name below localhost is this machine, whatever the system's resolver says.
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}
}

// withPassphrase writes the passphrase file that the environment names.
func withPassphrase(t *testing.T, c *testCore, text string) []string {
	t.Helper()
	name := filepath.Join(c.home, "passphrase")
	if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"COUNTERSIGN_PASSPHRASE_FILE=" + name}
}

// Every link connects one browser; after it was used the next one is shown.
func TestServeHTTP(t *testing.T) {
	needPages(t)
	for _, owner := range []bool{false, true} {
		c := freshDesk(t)
		args, says := []string{"--http", "localhost:0"}, "answers nothing"
		if owner {
			args, says = append(args, "--owner"), "answers as you do"
		}
		lines := serving(t, c, withPassphrase(t, c, testPassphrase), args...)
		lineWith(t, lines, says)
		link := lineWith(t, lines, "token=")
		base, _, _ := strings.Cut(link, "?")
		browser := newBrowser(t)
		if status := get(t, browser, base); status != http.StatusUnauthorized {
			t.Errorf("without a cookie: %d", status)
		}
		if status := get(t, browser, link); status != http.StatusOK {
			t.Errorf("the link: %d", status)
		}
		next := lineWith(t, lines, "token=")
		if next == link {
			t.Error("the same link is shown again")
		}
		if status := get(t, newBrowser(t), link); status != http.StatusForbidden {
			t.Errorf("the used link in another browser: %d", status)
		}
		if status := get(t, newBrowser(t), next); status != http.StatusOK {
			t.Errorf("the next link: %d", status)
		}
	}
}

// Who may start a program in this account is not thereby the owner.
func TestServeOwnerNeedsThePassphrase(t *testing.T) {
	needPages(t)
	c := freshDesk(t)
	env := withPassphrase(t, c, testPassphrase)
	refused := func(what string, cmd *exec.Cmd, says string) {
		t.Helper()
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) || strings.Contains(string(out), "token=") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	cmd := c.command("serve", "--background", "--http", "localhost:0", "--owner")
	refused("nobody to ask", cmd, "COUNTERSIGN_PASSPHRASE_FILE")
	lines := serving(t, c, env) // makes the key and the desk passphrase
	lineWith(t, lines, "is running")
	if out, err := c.command("stop").CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	for range lines {
		// until it ended
	}
	cmd = c.command("serve", "--background", "--http", "localhost:0", "--owner")
	cmd.Env = append(cmd.Env, withPassphrase(t, c, "not this one at all")...)
	refused("a wrong passphrase", cmd, "passphrase")

	shown, code := typing(t, c.command("serve", "--http", "localhost:0", "--owner"),
		said{"Desk passphrase: ", testPassphrase + "\n"}, said{"token=", ctrlC})
	if code != 0 || strings.Contains(shown, testPassphrase) {
		t.Errorf("typed: exit status %d\n%s", code, shown)
	}
}

// An agent that got a terminal replaced the desk passphrase by one of its own, printed an owner's link with it, and
// allowed its own calls.
func TestServeAsTheOwnerIsNotForAgents(t *testing.T) {
	c := newTestCore(t, "")
	c.kill()
	a := newFakeAgent(t, c)
	for name, flags := range map[string][]string{"owner": {"--http", "localhost:0", "--owner"}, "set-passphrase": {"--set-passphrase"}} {
		report := a.run("", append([]string{filepath.Join(c.bin, "countersign"), "serve", "--background"}, flags...)...)
		if report.Status != 1 || !strings.Contains(report.Output, "descends from an agent") || strings.Contains(report.Output, "token=") {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// The desk passphrase was replaced without a question for the one that was set: by whoever had a terminal, or could
// name a file.
func TestSetPassphraseWantsTheOldOne(t *testing.T) {
	c := newTestCore(t, "")
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	dirs, err := config.Resolve(c.home, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	const other = "one of my own"
	variable, file, _ := strings.Cut(withPassphrase(t, c, testPassphrase)[0], "=")
	named := filepath.Join(c.home, "another")
	if err := os.WriteFile(named, []byte(other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The identity's key opens by itself, as it does in a keyring.
	unlock := func(config.Config) (desk.Secret, error) { return desk.ReadPassphraseFile(file) }
	s := &streams{Out: io.Discard, Err: io.Discard}
	set := func(name string) (err error) {
		t.Setenv(variable, name)
		running, started := core.Start(t.Context(), core.Options{Dirs: dirs, Passphrase: unlock, Agents: agents.Known(), Log: slog.New(slog.DiscardHandler)},
			func(d *desk.Desk, conf config.Config) error {
				err = (&serveCmd{SetPassphrase: true}).setPassphrase(t.Context(), newPassphraseAsker(s, false), d, conf)
				if wrong := d.CheckPassphrase(desk.NewSecret(testPassphrase)); wrong != nil {
					t.Errorf("the desk passphrase is another one: %v", wrong)
				}
				return nil
			})
		if started != nil {
			t.Fatal(started)
		}
		if closed := running.Close(); closed != nil {
			t.Error(closed)
		}
		return err
	}
	if err := set(named); err == nil || !strings.Contains(err.Error(), "has to be typed on a terminal") {
		t.Errorf("with a file that holds another passphrase: %v", err)
	}
	if err := set(file); err != nil {
		t.Errorf("with the file that holds it: %v", err)
	}
}
