package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	transport := &http.Transport{}
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
