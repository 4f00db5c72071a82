package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// plainProcess is a process without a boundary, started only under the owner's OnMissing "warn". Its records say
// Unavailable. It gets the composed environment and the pinned shell all the same.
type plainProcess struct {
	cmd   *exec.Cmd
	names []string
	home  string // removed afterwards
	note  string // file in which the shell leaves its last directory; empty when it does not

	mu     sync.Mutex // guards ended
	ended  bool       // reaped: its id may be another process's
	killed bool
}

func (s *system) plain(_ context.Context, spec Spec) (running, error) {
	snap := spec.Effective.Snapshot()
	root, err := pathid.OpenRoot(pathid.OS(), snap.Cwd)
	if err != nil || !root.Identity.Same(spec.CwdIdentity) {
		return nil, fmt.Errorf("%w: %s", ErrCwdReplaced, snap.Cwd)
	}
	home, err := os.MkdirTemp(s.b.o.Scratch, "plain-*")
	if err != nil {
		return nil, &StartError{Step: "session directory", Err: err}
	}
	env := maps.Clone(spec.Environment)
	if env == nil {
		env = Environment(EnvOptions{})
	}
	if _, ok := env["HOME"]; !ok {
		env["HOME"] = home
	}
	p := &plainProcess{home: home}
	_, p.names = environmentList(env)
	if spec.Script != "" && spec.RecordDirectory && filepath.Separator == '/' {
		// The shell reads this file first; it forgets the variable, so that nothing it starts reads it too.
		p.note = filepath.Join(home, "directory")
		prelude := filepath.Join(home, "prelude")
		text := "unset BASH_ENV\ntrap 'builtin pwd -P 2>/dev/null >|" + quoted(p.note) + "' EXIT\n"
		if err := os.WriteFile(prelude, []byte(text), 0o600); err != nil {
			_ = os.RemoveAll(home)
			return nil, &StartError{Step: "session directory", Err: err}
		}
		env["BASH_ENV"] = prelude
	}
	list, _ := environmentList(env)
	argv := spec.argv()
	p.cmd = &exec.Cmd{Path: argv[0], Args: argv, Env: list, Dir: snap.Cwd, SysProcAttr: ownGroup()}
	if !strings.ContainsRune(argv[0], filepath.Separator) {
		if p.cmd.Path, err = lookIn(argv[0], env["PATH"]); err != nil {
			_ = os.RemoveAll(home)
			return nil, err
		}
	}
	// Assigned one by one: a nil *os.File in an interface is not nil.
	if spec.Stdin != nil {
		p.cmd.Stdin = spec.Stdin
	}
	if spec.Stdout != nil {
		p.cmd.Stdout = spec.Stdout
	}
	if spec.Stderr != nil {
		p.cmd.Stderr = spec.Stderr
	}
	return p, nil
}

// quoted puts text in single quotes for the inside of a single-quoted trap.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`", "'", `'\''`).Replace(text) + `"`
}

func lookIn(name, search string) (string, error) {
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", &ExecError{Path: name, Err: os.ErrNotExist}
}

func (p *plainProcess) layers() []capability.Layer {
	return []capability.Layer{{Name: "none", Detail: "started without a boundary by the owner's setting"}}
}

func (p *plainProcess) environment() []string { return p.names }

func (p *plainProcess) release() error {
	if err := p.cmd.Start(); err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		return &ExecError{Path: p.cmd.Path, Err: err}
	}
	return nil
}

func (p *plainProcess) abandon() { _ = os.RemoveAll(p.home) }

func (p *plainProcess) wait() outcome {
	_ = p.cmd.Wait()
	p.mu.Lock()
	p.ended = true
	killed := p.killed
	p.mu.Unlock()
	state := p.cmd.ProcessState
	out := outcome{user: state.UserTime(), sys: state.SystemTime()}
	out.signal = signalOf(state)
	if out.signal == "" {
		code := state.ExitCode()
		out.exit = &code
	}
	out.lost = killed && out.exit == nil
	if p.note != "" {
		if text, err := os.ReadFile(p.note); err == nil {
			dir := strings.TrimSuffix(string(text), "\n")
			if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
				out.directory = dir
			}
		}
	}
	p.abandon()
	return out
}

func (p *plainProcess) signal(number int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.cmd.Process == nil {
		return ErrEnded
	}
	return signalGroup(p.cmd.Process, number)
}

func (p *plainProcess) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended && p.cmd.Process != nil {
		p.killed = true
		killGroup(p.cmd.Process)
	}
}
