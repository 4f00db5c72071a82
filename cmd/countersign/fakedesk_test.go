package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// fakeDeskName is the window's program. The test binary plays it where it is called so: a desk without a window, whose
// person allows everything. It is started with a composed environment, so its name is all that tells it.
const fakeDeskName = "countersign-desk"

// Files beside the program that change what the fake desk does.
const (
	dieFile   = "die"   // it dies at once
	idleFile  = "idle"  // its person answers nothing
	trialFile = "trial" // its person sends a test request, and answers nothing
)

// deskStart is what the fake desk was started with; it writes it into its home.
type deskStart struct {
	PID  int      `json:"pid"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
}

func (s deskStart) value(name string) string {
	for _, v := range s.Env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			return rest
		}
	}
	return ""
}

const startFile = "desk-start.json"

func playDesk() int {
	self, err := os.Executable()
	if err != nil {
		return 9
	}
	if exists(filepath.Join(filepath.Dir(self), dieFile)) {
		fmt.Fprintln(os.Stderr, "cannot open \x1b[31mdisplay")
		return 3
	}
	home, demo := os.Getenv(config.HomeVariable), false
	if len(os.Args) == 3 && os.Args[1] == "--demo" {
		home, demo = os.Args[2], true
	}
	if err := serveFakeDesk(home, demo); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func serveFakeDesk(home string, demo bool) error {
	record, err := json.Marshal(deskStart{PID: os.Getpid(), Args: os.Args[1:], Env: os.Environ()})
	if err != nil {
		return err
	}
	// As a whole: the test waits for it.
	if err := os.WriteFile(filepath.Join(home, startFile+".new"), record, 0o600); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(home, startFile+".new"), filepath.Join(home, startFile)); err != nil {
		return err
	}
	dirs, err := config.Resolve(home, func(string) string { return "" })
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	options := core.Options{Dirs: dirs, Agents: agents.Known(), Version: "test", Passphrase: func(conf config.Config) (desk.Secret, error) {
		if conf.Identity.PassphraseFile == "" { // it waits in its window, and nobody comes
			time.Sleep(2 * core.StartWait)
			return desk.Secret{}, errNoTerminal
		}
		return desk.ReadPassphraseFile(conf.Identity.PassphraseFile)
	}}
	if demo {
		options.ThrowAway = true
		options.Passphrase = func(config.Config) (desk.Secret, error) { return desk.NewSecret(testPassphrase), nil }
		self, err := core.Self()
		if err != nil {
			return err
		}
		options.Agents = options.Agents.With("demo", func(p wire.Process) (match, verified bool) {
			return p.Exe == filepath.Join(filepath.Dir(self), "countersign") && len(p.Args) > 1 && p.Args[1] == "demo", true
		})
	}
	running, err := core.Start(ctx, options, nil)
	if err != nil {
		return err
	}
	running.Desk.SetWindow(true, true)
	if self, err := os.Executable(); err == nil && exists(filepath.Join(filepath.Dir(self), trialFile)) {
		var ref wire.CallRef
		if err := ownerDoes(running.Desk)(ctx, newCommandID(), wire.ActionTestRequest, wire.TestRequest{}, &ref); err != nil {
			_ = running.Close()
			return err
		}
	}
	ended := make(chan error, 1)
	if demo {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // ends with the demo
			stop()
		}()
		if self, err := os.Executable(); err == nil && !exists(filepath.Join(filepath.Dir(self), idleFile)) {
			go func() { ended <- allowTwo(ctx, running.Desk) }()
		}
	}
	select {
	case <-ctx.Done():
	case err = <-ended:
		if err != nil {
			_ = running.Close()
			return err
		}
	}
	return running.Close()
}

// ownerDoes is how the window does something.
func ownerDoes(d *desk.Desk) doer {
	return func(ctx context.Context, command, action string, in, out any) error {
		args, err := json.Marshal(in)
		if err != nil {
			return err
		}
		reply := d.Do(ctx, d.Owner(), wire.Request{Action: action, CommandID: command, Args: args}, nil)
		if reply.Error != nil {
			return reply.Error
		}
		return json.Unmarshal(reply.Result, out)
	}
}

// allowTwo allows the two questions of the demo, waits until the agent is through, and quits.
func allowTwo(ctx context.Context, d *desk.Desk) error {
	sub, err := d.Subscribe(d.Owner(), "", 0)
	if err != nil {
		return err
	}
	defer sub.Cancel()
	do := ownerDoes(d)
	last, asked := "", 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case frame := <-sub.Frames:
			switch frame.Frame {
			case wire.FrameQuestionAsked:
				var q wire.Question
				if err := json.Unmarshal(frame.Data, &q); err != nil {
					return err
				}
				from, err := showing(ctx, do, q)
				if err != nil {
					return err
				}
				if _, err := answerFrom(ctx, do, from, wire.ActionQuestionReply, wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1}); err != nil {
					return err
				}
				if asked++; asked == 2 {
					last = q.Call
				}
			case wire.FrameCallUpdated:
				var c wire.Call
				if err := json.Unmarshal(frame.Data, &c); err != nil {
					return err
				}
				if last != "" && c.ID == last && c.State == "finished" {
					return nil
				}
			}
		}
	}
}

// deskDir is programDir with the fake desk beside the others, in a directory of its own.
func deskDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]string{fakeDeskName: os.Args[0]}
	for _, name := range []string{"countersign", "countersign-init"} {
		from[name] = filepath.Join(programDir(t), name)
	}
	for name, path := range from {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fakeDisplay makes what passes for a display, and returns the variables that name it.
func fakeDisplay(t *testing.T) []string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cs-run-") // private, and short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "wayland-5"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return []string{"DISPLAY=", "WAYLAND_DISPLAY=wayland-5", "XDG_RUNTIME_DIR=" + dir}
}

// deskHome is a home whose core the fake desk can start; typed leaves its passphrase to be typed.
func deskHome(t *testing.T, typed bool) string {
	t.Helper()
	home, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	conf := "[identity]\nstore = \"file\"\n"
	pass := filepath.Join(home, "passphrase")
	if !typed {
		conf += "passphrase_file = \"" + pass + "\"\n"
	}
	if err := os.Mkdir(filepath.Join(home, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{pass: testPassphrase + "\n", filepath.Join(home, "config", "config.toml"): conf} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// started returns what the fake desk of a home was started with, and ends it with the test.
func started(t *testing.T, home string) deskStart {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, startFile))
	if err != nil {
		t.Fatalf("no desk was started: %v", err)
	}
	var s deskStart
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p, err := os.FindProcess(s.PID); err == nil {
			_ = p.Kill()
		}
	})
	return s
}

// typed is a command as a person types it, with a display.
func typedCommand(bin, home string, display []string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "countersign"), args...)
	cmd.Env = append(os.Environ(), display...)
	cmd.Env = append(cmd.Env, config.HomeVariable+"="+home, "LD_LIBRARY_PATH=/nowhere", "COUNTERSIGN_NO_START=")
	return cmd
}
