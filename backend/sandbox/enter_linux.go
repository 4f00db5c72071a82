package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// boxed is a process in a box, for the Broker.
type boxed struct {
	*box
	system    *system
	evidence  []capability.Layer
	names     []string
	path      string
	directory string
	links     []guard
	before    repositories
	snap      capability.Snapshot
	held      *held
}

// enter makes the boundary for a specification that passed its check.
func (s *system) enter(ctx context.Context, spec Spec) (running, error) {
	s.mu.Lock()
	var t *tools
	if s.known != nil {
		t = s.known.tools
	}
	s.mu.Unlock()
	if t == nil { // another start's probe found something missing a moment ago
		return nil, &UnavailableError{Protection: "boundary", Detail: "the machine has just changed", Fix: fixUnknown}
	}
	snap := spec.Effective.Snapshot()
	if now, err := pathid.OpenRoot(pathid.OS(), snap.Cwd); err != nil || now.Path != snap.Cwd || !now.Identity.Same(spec.CwdIdentity) {
		return nil, fmt.Errorf("%w: %s", ErrCwdReplaced, snap.Cwd)
	}
	home, tmp, err := s.session(spec.Session)
	if err != nil {
		return nil, &StartError{Step: "session directory", Err: err}
	}
	if snap.Policy == capability.ReadOnly {
		tmp = "" // and with it the home directory: fresh and forgotten
	}
	env := maps.Clone(spec.Environment)
	if env == nil {
		env = Environment(EnvOptions{})
	}
	for name, value := range map[string]string{"HOME": home, "TMPDIR": "/tmp"} {
		if _, ok := env[name]; !ok {
			env[name] = value
		}
	}
	argv := spec.argv()
	path, err := findProgram(argv[0], snap.Cwd, env["PATH"])
	if err != nil {
		return nil, err
	}
	look, err := s.survey(snap, home, tmp, t.abi)
	if err != nil {
		return nil, err
	}
	stdio := [3]*os.File{spec.Stdin, spec.Stdout, spec.Stderr}
	for i, f := range stdio {
		access, terminal, err := stream(f)
		if err != nil {
			return nil, fmt.Errorf("%w: stream %d: %w", ErrSpec, i, err)
		}
		look.Streams[i] = access
		look.Terminal = look.Terminal || terminal
	}
	h, guards, err := s.standIns.hold(look.Guards)
	if err != nil {
		return nil, &StartError{Step: "protected paths", Err: err}
	}
	look.Guards = guards
	if _, ok := env["GOFLAGS"]; !ok && slices.ContainsFunc(guards, func(g guard) bool {
		return g.Dir && filepath.Base(g.Path) == ".git" && within(filepath.Dir(g.Path), look.Cwd)
	}) {
		// An empty .git stands in for the missing one. git passes over it; the go command takes it for a repository and
		// refuses to build when it cannot ask for its state.
		env["GOFLAGS"] = "-buildvcs=false"
	}
	b, err := s.box(ctx, t, spec, look, path, argv, env, stdio)
	if err != nil {
		s.standIns.release(h)
		return nil, err
	}
	b.held = h
	return b, nil
}

func (s *system) box(ctx context.Context, t *tools, spec Spec, look survey, path string, argv []string, env map[string]string, stdio [3]*os.File) (*boxed, error) {
	p, err := planFor(look)
	if err != nil {
		return nil, err
	}
	list, names := environmentList(env)
	m := message{
		Path: path, Argv: argv, Env: list, Cwd: look.Cwd, Limits: limitsOf(spec.Effective.Snapshot().Limits),
		Flags: flagDirectory,
	}
	if look.Terminal {
		m.Flags |= flagTerminal
	}
	b, err := launch(ctx, &s.owners, t, p, m, stdio)
	if err != nil {
		var early *bubblewrapError
		if errors.As(err, &early) {
			err = &StartError{Step: "bubblewrap", Detail: early.Error()}
		}
		return nil, err
	}
	evidence := demand{Outside: t.outside, Handled: t.handled}.layers(b.report)
	if l, bad := missing(evidence); bad {
		b.discard()
		return nil, &UnavailableError{Protection: l.Name, Detail: l.Detail, Fix: fixUnknown}
	}
	if !b.report.Cwd.Same(spec.CwdIdentity) {
		b.discard()
		return nil, fmt.Errorf("%w: %s", ErrCwdReplaced, look.Cwd)
	}
	out := &boxed{box: b, system: s, evidence: evidence, names: names, path: path, directory: look.Cwd,
		before: look.Git, snap: spec.Effective.Snapshot()}
	for _, g := range look.Guards {
		if g.Link != "" && !slices.ContainsFunc(out.links, func(o guard) bool { return o.Path == g.Path }) {
			out.links = append(out.links, g)
		}
	}
	return out, nil
}

func (b *boxed) layers() []capability.Layer { return b.evidence }
func (b *boxed) environment() []string      { return b.names }

// release says go and waits for the execve: the status socket closes on it.
func (b *boxed) release() error {
	if _, err := b.status.Write([]byte{'G'}); err != nil {
		return &StartError{Step: "go", Err: err}
	}
	buf := make([]byte, reportSize+1)
	n, _, err := receive(b.status, buf)
	if err != nil {
		return &StartError{Step: "execute", Err: err}
	}
	if n == 0 {
		return nil
	}
	r, err := parseReport(buf[:n])
	if err != nil || r.Kind != kindExecFailed {
		return &StartError{Step: "execute", Err: errReport}
	}
	return &ExecError{Path: b.path, Err: syscall.Errno(r.Error)}
}

// signal passes a number to pid 1, which sends it to the command's process group.
func (b *boxed) signal(number int) error {
	var word [4]byte
	binary.NativeEndian.PutUint32(word[:], uint32(number))
	_, err := b.control.Write(word[:])
	if errors.Is(err, unix.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, unix.ECONNRESET) {
		return ErrEnded
	}
	return err
}

func (b *boxed) abandon() {
	b.discard()
	b.system.standIns.release(b.held)
}

func (b *boxed) wait() outcome {
	exit, err := b.end()
	b.system.standIns.release(b.held)
	var out outcome
	for _, g := range b.links {
		if text, err := os.Readlink(g.Path); err != nil || text != g.Link {
			out.findings = append(out.findings, strconv.Quote(g.Path)+": a protected link changed")
		}
	}
	roots, skip := b.system.walked(b.snap)
	out.findings = append(out.findings, inspect(b.before, roots, skip, maxWalked)...)
	if err != nil {
		out.lost = true
		return out
	}
	status := syscall.WaitStatus(exit.Status)
	if status.Signaled() {
		out.signal = unix.SignalName(status.Signal())
		if out.signal == "" { // a real-time signal has no name
			out.signal = fmt.Sprintf("SIG%d", int(status.Signal()))
		}
	} else {
		code := status.ExitStatus()
		out.exit = &code
	}
	out.user = time.Duration(exit.UserUS) * time.Microsecond
	out.sys = time.Duration(exit.SystemUS) * time.Microsecond
	out.maxRSS = int64(exit.MaxRSS) * 1024
	// A directory that is another one outside (/tmp), or none, is not the caller's next working directory.
	if filepath.IsAbs(exit.Directory) {
		var st unix.Stat_t
		if unix.Stat(exit.Directory, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && identityOf(&st).Same(exit.Cwd) {
			out.directory = exit.Directory
		}
	}
	return out
}

// findProgram finds what to execute as execvp(3) would: paths are the same inside and outside.
func findProgram(name, cwd, search string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &ExecError{Path: name, Err: unix.ENOENT}
}

// stream says with which rights a stream may be opened again by name, and whether it is a terminal.
func stream(f *os.File) (access uint64, terminal bool, err error) {
	if f == nil {
		return 0, false, nil
	}
	err = withDescriptor(f, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		kind := st.Mode & unix.S_IFMT
		if kind == unix.S_IFDIR {
			return unix.EISDIR
		}
		if kind != unix.S_IFREG && kind != unix.S_IFCHR {
			return nil // pipes and sockets need no rule
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		switch flags & unix.O_ACCMODE {
		case unix.O_RDONLY:
			access = llReadFile
		case unix.O_WRONLY:
			access = llWriteFile | llTruncate
		default:
			access = llReadFile | llWriteFile | llTruncate
		}
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			access |= llIoctlDev
			terminal = true
		}
		return nil
	})
	return access, terminal, err
}

// limitsOf returns the resource limits of a capability; core dumps are always off.
func limitsOf(l capability.Limits) []limit {
	list := []limit{{unix.RLIMIT_CORE, 0}}
	for _, want := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CPU, l.CPUSeconds}, {unix.RLIMIT_AS, l.MemoryBytes}, {unix.RLIMIT_FSIZE, l.FileBytes},
		{unix.RLIMIT_NPROC, l.Processes}, {unix.RLIMIT_NOFILE, l.OpenFiles},
	} {
		if want.value == 0 {
			continue
		}
		var now unix.Rlimit
		if unix.Getrlimit(want.resource, &now) == nil {
			want.value = min(want.value, now.Max)
		}
		list = append(list, limit{uint32(want.resource), want.value})
	}
	return list
}
