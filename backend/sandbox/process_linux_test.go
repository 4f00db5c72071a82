package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

func TestExitStatusAndSignals(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		script string
		exit   int
		signal string
	}{
		{"true", 0, ""}, {"exit 7", 7, ""}, {"exit 255", 255, ""}, {"nosuchcommand", 127, ""}, {"/etc/passwd", 126, ""},
		{"kill -TERM $$", -1, "SIGTERM"}, {"kill -KILL $$", -1, "SIGKILL"}, {"kill -SEGV $$", -1, "SIGSEGV"},
		{"kill -34 $$", -1, "SIG34"}, {"sh -c 'kill -KILL $$'; exit $?", 137, ""}, {"exec sh -c 'exit 3'", 3, ""},
	} {
		t.Run(c.script, func(t *testing.T) {
			_, end := r.run(r.spec(c.script))
			if status(end) != c.exit || end.Signal != c.signal || end.Cause != "" || end.Err != nil {
				t.Errorf("exit %d signal %q cause %q err %v", status(end), end.Signal, end.Cause, end.Err)
			}
		})
	}
}

func TestOutputIsThatOfBash(t *testing.T) {
	r := newRig(t)
	script := "echo one\nnosuchcommand\necho $0 $LINENO $# >&2\nset -o | grep -E 'posix|hist'"
	got, _ := r.script(script)
	plain := exec.Command(shellPath, "--noprofile", "--norc", "-c", script)
	plain.Env = []string{"LANG=C.UTF-8"}
	want, _ := plain.CombinedOutput()
	if diff := cmp.Diff(strings.TrimSpace(string(want)), got); diff != "" {
		t.Error(diff)
	}
}

func TestExitDirectory(t *testing.T) {
	r := newRig(t)
	r.write("sub/deep/file", "")
	at := func(rel string) string { return filepath.Join(r.workspace, rel) }
	if err := os.Symlink("sub", at("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ script, want string }{
		{"cd sub; exit 7", at("sub")},
		{"cd sub/deep", at("sub/deep")},
		{"cd link", at("sub")},
		{"(cd sub)", at("")},
		{"cd sub & wait", at("")},
		{"trap 'cd deep' EXIT; cd sub", at("sub/deep")},
		{"trap '' EXIT; cd sub; kill -KILL $$", at("sub")},
		{"cd sub; exec sleep 0", at("sub")},
		{"cd sub; sleep 100 >/dev/null 2>&1 & cd deep", at("sub/deep")},
		{"cd /tmp", at("")}, // the session's own, which is another directory outside
		{"mkdir gone; cd gone; rmdir ../gone", at("")},
		{"cd /usr", "/usr"},
	} {
		t.Run(c.script, func(t *testing.T) {
			if _, end := r.run(r.spec(c.script)); end.Directory != c.want {
				t.Errorf("got %s, want %s", end.Directory, c.want)
			}
		})
	}
	s := r.spec("cd sub")
	s.RecordDirectory = false
	if _, end := r.run(s); end.Directory != "" {
		t.Errorf("not asked for: %s", end.Directory)
	}
}

func TestBackgroundJobsEndWithTheCall(t *testing.T) {
	r := newRig(t)
	marker := "countersign-job-" + filepath.Base(filepath.Dir(r.workspace)) + fmt.Sprint(os.Getpid())
	start := time.Now()
	_, end := r.run(r.spec(fmt.Sprintf("for i in 1 2 3; do setsid -f bash -c 'exec -a %s sleep 1000'; done; nohup sleep 1000 & sleep 0.1; exit 5", marker)))
	if status(end) != 5 || time.Since(start) > 20*time.Second {
		t.Errorf("%d after %v", status(end), time.Since(start))
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestKillEndsTheWholeTree(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(cancel context.CancelCauseFunc, p *Process)
		want string
	}{
		{"cancelled", func(cancel context.CancelCauseFunc, _ *Process) { cancel(nil) }, "cancelled"},
		{"client gone", func(cancel context.CancelCauseFunc, _ *Process) { cancel(CauseClientGone) }, "client_gone"},
		{"kill signal", func(_ context.CancelCauseFunc, p *Process) { _ = p.Signal(os.Kill) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			marker := "countersign-tree-" + strings.ReplaceAll(c.name, " ", "-") + fmt.Sprint(os.Getpid())
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p, err := r.broker.Start(ctx, r.spec(fmt.Sprintf("trap '' TERM INT HUP; setsid bash -c 'exec -a %s sleep 1000' & (exec -a %s sleep 1000) & wait", marker, marker)))
			if err != nil {
				t.Fatal(err)
			}
			for len(processesNamed(marker)) < 2 {
				time.Sleep(time.Millisecond)
			}
			c.end(cancel, p)
			end := p.Wait()
			if end.Exit != nil || end.Signal != "SIGKILL" || end.Cause != c.want {
				t.Errorf("%+v", end)
			}
			if left := processesNamed(marker); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if err := p.Signal(os.Interrupt); !errors.Is(err, ErrEnded) {
				t.Error(err)
			}
			all := r.sink.all()
			if len(all) != 2 || all[1].Cause != c.want || all[1].Start != all[0].ID || all[1].Signal != "SIGKILL" {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestKillByWallClock(t *testing.T) {
	r := newRig(t)
	r.change = func(req *capability.Request) { req.Limits.WallClock = 300 * time.Millisecond }
	_, end := r.run(r.spec("sleep 1000"))
	if end.Cause != "wall_clock" || end.Signal != "SIGKILL" {
		t.Errorf("%+v", end)
	}
}

func TestLimits(t *testing.T) {
	r := newRig(t)
	r.change = func(req *capability.Request) {
		req.Limits = capability.Limits{FileBytes: 1 << 20, OpenFiles: 33, CPUSeconds: 9, OutputBytes: 100}
	}
	out, _ := r.script("ulimit -f; ulimit -n; ulimit -t; ulimit -c; head -c 2000000 /dev/zero > big; echo $?; stat -c %s big")
	if !strings.HasPrefix(out, "1024\n33\n9\n0\n") || !strings.HasSuffix(out, "153\n1048576") {
		t.Errorf("%q", out)
	}
	if got := r.sink.all()[0].Extra["not_applied"]; got != "limits.output_bytes" {
		t.Errorf("%q", got)
	}
}

func TestSignalReachesTheCommand(t *testing.T) {
	r := newRig(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	s := r.spec("trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.02; done")
	s.Stdout = write
	p, err := r.broker.Start(t.Context(), s)
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(read)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); line != "interrupted\n" {
		t.Errorf("%q %v", line, err)
	}
	if end := p.Wait(); status(end) != 3 || end.Cause != "" {
		t.Errorf("%+v", end)
	}
}

func TestStreamsAreTheCallersOwn(t *testing.T) {
	r := newRig(t)
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := r.spec("wc -c; echo again > /dev/stdout; echo error > /dev/stderr")
	s.Stdin = in
	go func() {
		_, _ = feed.Write(make([]byte, 300_000))
		_ = feed.Close()
	}()
	out, end := r.run(s)
	_ = in.Close()
	if out != "300000\nagain\nerror\n" || status(end) != 0 {
		t.Errorf("%q %+v", out, end)
	}

	// A file outside the roots, handed over by the caller, may be opened again by name, but not for more.
	file := filepath.Join(t.TempDir(), "out")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s = r.spec("echo one; echo two >> /dev/stdout; cat /dev/stdout 2>/dev/null && exit 9; exit 0")
	s.Stdout = f
	p, err := r.broker.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	end = p.Wait()
	if text, _ := os.ReadFile(file); string(text) != "one\ntwo\n" || status(end) != 0 {
		t.Errorf("%q %+v", text, end)
	}

	// A stream that the command closes ends for its reader, although the command goes on.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	s = r.spec("echo x; exec >&- 2>&-; sleep 1000")
	s.Stdout = write
	if p, err = r.broker.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if text, err := io.ReadAll(read); string(text) != "x\n" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	_ = p.Signal(os.Kill)
	p.Wait()
}

func TestTerminal(t *testing.T) {
	r := newRig(t)
	master, slave := openTerminal(t)
	defer master.Close()
	defer slave.Close()
	s := r.spec("tty -s && echo terminal; trap 'stty size; exit 4' WINCH; echo ready; : > /dev/tty && echo own; while :; do sleep 0.02; done")
	s.Stdin, s.Stdout, s.Stderr = slave, slave, slave
	p, err := r.broker.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(seen.String(), "own") {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatalf("%q %v", seen.String(), err)
		}
		seen.Write(buf[:n])
	}
	if err := p.Resize(33, 77); err != nil {
		t.Fatal(err)
	}
	end := p.Wait()
	n, _ := master.Read(buf)
	seen.Write(buf[:n])
	if got := seen.String(); !strings.Contains(got, "terminal") || !strings.Contains(got, "33 77") || status(end) != 4 {
		t.Errorf("%q %+v", got, end)
	}
	if err := r.resizeWithoutTerminal(); err != nil {
		t.Error(err)
	}
}

func (r *rig) resizeWithoutTerminal() error {
	p, err := r.broker.Start(r.t.Context(), r.spec("sleep 0.1"))
	if err != nil {
		return err
	}
	defer p.Wait()
	return p.Resize(1, 1)
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	var n int
	err = withDescriptor(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	return master, slave
}

func TestArgv(t *testing.T) {
	r := newRig(t)
	argv := func(args ...string) Spec {
		s := r.spec("")
		s.Argv = args
		return s
	}
	if out, end := r.run(argv("printf", "%s|", "a b", "", "c")); out != "a b||c|" || status(end) != 0 {
		t.Errorf("%q %+v", out, end)
	}
	r.write("data", "text")
	script := r.write("bad", "#!/no/such/interpreter\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"/no/such/program": unix.ENOENT, "nosuchprogram": unix.ENOENT, "./data": unix.EACCES, "./bad": unix.ENOENT, "/tmp": unix.EACCES,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := r.try(t.Context(), argv(name))
			var exec *ExecError
			if !errors.As(err, &exec) || !errors.Is(err, want) {
				t.Errorf("%v", err)
			}
		})
	}
	// A start that failed at the execve has both records, and the end says so.
	all := r.sink.all()
	last := all[len(all)-1]
	if last.Kind != capability.RecordEnd || last.Cause != "exec_failed" || last.ExitStatus != nil || last.Signal != "" {
		t.Errorf("%+v", last)
	}
}

func TestRecords(t *testing.T) {
	r := newRig(t)
	s := r.spec("echo $SECRET; head -c 20000000 /dev/zero | sha256sum >/dev/null; exit 3")
	_, end := r.run(s)
	all := r.sink.all()
	if len(all) != 2 {
		t.Fatalf("%d records", len(all))
	}
	start, last := all[0], all[1]
	if start.ID != end.Start || last.ID != end.End || last.Start != start.ID {
		t.Errorf("%s %s %+v", start.ID, last.ID, end)
	}
	if start.Enforcement != capability.Enforced || start.Backend != backendName || start.ArgvDigest != capability.Digest(s.argv()) ||
		!start.CwdIdentity.Same(s.CwdIdentity) || start.Cwd != r.workspace || start.Effective == nil || start.Call != "call" ||
		start.Principal != "owner" || start.Session != "session" || start.Tool != "shell" || start.Request != "request" {
		t.Errorf("%+v", start)
	}
	if l, bad := missing(start.Layers); bad {
		t.Errorf("%+v", l)
	}
	if *last.ExitStatus != 3 || last.UserCPU+last.SystemCPU <= 0 || last.MaxRSS < 1<<20 || last.EndedAt.Before(last.StartedAt) {
		t.Errorf("%+v", last)
	}
	if !slices.IsSorted(start.Environment) || slices.ContainsFunc(start.Environment, func(s string) bool { return strings.Contains(s, "=") }) {
		t.Errorf("%v", start.Environment)
	}
}

// TestPrintingAnErrorIsNoDenial: process output is never provenance.
func TestPrintingAnErrorIsNoDenial(t *testing.T) {
	r := newRig(t)
	_, end := r.run(r.spec("echo 'touch: /etc/x: Operation not permitted' >&2; exit 1"))
	if status(end) != 1 {
		t.Errorf("%+v", end)
	}
	for _, rec := range r.sink.all() {
		if len(rec.Denials) > 0 {
			t.Errorf("%+v", rec.Denials)
		}
	}
}

func TestNothingRunsWithoutAStartRecord(t *testing.T) {
	r := newRig(t)
	r.sink.fail = errors.New("disk full")
	_, _, err := r.try(t.Context(), r.spec("touch ran"))
	if !errors.Is(err, ErrRecord) || !errors.Is(err, r.sink.fail) {
		t.Errorf("%v", err)
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestEndRecordFailureIsTold(t *testing.T) {
	r := newRig(t)
	p, err := r.broker.Start(t.Context(), r.spec("sleep 0.2"))
	if err != nil {
		t.Fatal(err)
	}
	r.sink.mu.Lock()
	r.sink.fail = errors.New("disk full")
	r.sink.mu.Unlock()
	if end := p.Wait(); !errors.Is(end.Err, r.sink.fail) || status(end) != 0 {
		t.Errorf("%+v", end)
	}
}

func TestRefusedSpecifications(t *testing.T) {
	r := newRig(t)
	base := r.spec("true")
	with := func(change func(*Spec)) Spec {
		s := base
		change(&s)
		return s
	}
	capable := func(change func(*capability.Request)) Spec {
		r.change = change
		s := r.spec("touch ran")
		r.change = nil
		return s
	}
	gone := resolved(t, t.TempDir())
	moved := capable(func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, gone) })
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	for _, c := range []struct {
		name string
		spec Spec
		want error
	}{
		{"script and argv", with(func(s *Spec) { s.Argv = []string{"true"} }), ErrSpec},
		{"neither", with(func(s *Spec) { s.Script = "" }), ErrSpec},
		{"NUL", with(func(s *Spec) { s.Script = "a\x00b" }), ErrSpec},
		{"one megabyte", with(func(s *Spec) { s.Script = strings.Repeat("a", 1<<20) }), ErrTooLong},
		{"no capability", with(func(s *Spec) { s.Effective = capability.Effective{} }), ErrSpec},
		{"no identity", with(func(s *Spec) { s.CwdIdentity = pathid.Identity{} }), ErrSpec},
		{"other class", with(func(s *Spec) { s.Class = capability.ClassGate }), ErrSpec},
		{"no call", with(func(s *Spec) { s.Call = "" }), ErrSpec},
		{"replaced directory", with(func(s *Spec) { s.CwdIdentity.Inode++ }), ErrCwdReplaced},
		{"bad name", with(func(s *Spec) { s.Environment = map[string]string{"A=B": ""} }), ErrSpec},
		{"foreign name", with(func(s *Spec) { s.Environment = map[string]string{"LD_PRELOAD": "x"} }), ErrEnvironment},
		{"network", capable(func(req *capability.Request) { req.Network = capability.NetworkOpen }), ErrNetwork},
		{"full access", capable(func(req *capability.Request) { req.Policy = capability.DangerFullAccess }), ErrUnboxed},
		{"root vanished", moved, ErrRootMissing},
		{"whole tree", capable(func(req *capability.Request) { req.ReadRoots = append(req.ReadRoots, "/") }), ErrRootTooWide},
		{"home", capable(func(req *capability.Request) { req.ReadRoots = append(req.ReadRoots, home) }), ErrRootTooWide},
		{"run", capable(func(req *capability.Request) { req.ReadRoots = append(req.ReadRoots, "/run") }), ErrRootTooWide},
		{"write system", capable(func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, "/usr/local") }), ErrRootTooWide},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := r.try(t.Context(), c.spec); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if len(r.sink.all()) > 0 || len(r.workspaceEntries()) > 0 {
		t.Errorf("%v %v", r.sink.all(), r.workspaceEntries())
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(CauseCoreStopped)
	if _, _, err := r.try(ctx, r.spec("touch ran")); !errors.Is(err, CauseCoreStopped) {
		t.Errorf("%v", err)
	}
}

// cancelling is a sink during whose work the context ends.
type cancelling struct {
	records
	cancel context.CancelCauseFunc
}

func (c *cancelling) Append(r capability.Record) (string, error) {
	c.cancel(CauseClientGone)
	return c.records.Append(r)
}

// TestCancelledBeforeGo: who went away while the start record was written is not run for.
func TestCancelledBeforeGo(t *testing.T) {
	r := newRig(t)
	spec := r.spec("touch ran")
	ctx, cancel := context.WithCancelCause(t.Context())
	sink := &cancelling{cancel: cancel}
	r.broken(func(o *Options) { o.Sink = sink })
	if _, _, err := r.try(ctx, spec); !errors.Is(err, CauseClientGone) {
		t.Errorf("%v", err)
	}
	all := sink.all()
	if len(all) != 2 || all[1].Cause != "client_gone" || all[1].Signal != "" || all[1].ExitStatus != nil {
		t.Errorf("%+v", all)
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestRealWork: what agents do all day works inside.
func TestRealWork(t *testing.T) {
	r := newRig(t)
	r.write("go/go.mod", "module hello\n\ngo 1.21\n")
	r.write("go/main.go", "package main\n\nfunc main() { println(\"hello\") }\n")
	r.write("go/main_test.go", "package main\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Log(t.TempDir()) }\n")
	r.write("c/Makefile", "all: x\n\t./x\nx: x.c\n\tcc -o x x.c\n")
	r.write("c/x.c", "int main(void) { return 0; }\n")
	for _, c := range []struct{ tool, script string }{
		{"git", "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; git init -q repo && cd repo && echo x > f && git add f && git commit -qm x && cd .. && git clone -q repo copy && cat copy/f && cd copy && git log --oneline | wc -l && git status --short"},
		{"go", "cd go && go build -o h . && ./h && go vet ./... && go test ./..."},
		{"make", "cd c && make"},
		{"/usr/bin/python3", "/usr/bin/python3 -c 'import subprocess, tempfile, threading, multiprocessing as m; tempfile.mkdtemp(); subprocess.run([\"true\"], check=True); t = threading.Thread(target=print); t.start(); t.join(); p = m.Process(target=print); p.start(); p.join()'"},
		{"/usr/bin/node", "/usr/bin/node -e 'require(\"os\").networkInterfaces(); require(\"child_process\").execSync(\"true\"); require(\"fs\").mkdtempSync(\"/tmp/x\")'"},
		{"bash", "diff <(echo a) <(echo a) && mkfifo p && (echo x > p &) && cat p && cat <<< here && [[ -w /dev/null ]]"},
	} {
		t.Run(filepath.Base(c.tool), func(t *testing.T) {
			if out, code := r.script("command -v " + c.tool); code != 0 {
				t.Skipf("%s is not installed where commands find it: %s", c.tool, out)
			}
			if out, code := r.script(c.script); code != 0 {
				t.Errorf("%d\n%s", code, out)
			}
		})
	}
}

// TestCancelAtEveryMoment: wherever the cancellation strikes, nothing is left and every start record has its end.
func TestCancelAtEveryMoment(t *testing.T) {
	r := newRig(t)
	marker := fmt.Sprintf("countersign-moment-%d", os.Getpid())
	for i := range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*2*time.Millisecond)
		p, err := r.broker.Start(ctx, r.spec("exec -a "+marker+" sleep 1000"))
		if err == nil {
			if end := p.Wait(); end.Cause != "cancelled" {
				t.Errorf("%+v", end)
			}
		}
		cancel()
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	ends := 0
	for _, rec := range r.sink.all() {
		if rec.Kind == capability.RecordEnd {
			ends++
		}
	}
	if 2*ends != len(r.sink.all()) {
		t.Errorf("%d records, %d ends", len(r.sink.all()), ends)
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("left in the workspace: %v", got)
	}
}

// TestCoreKilled: when the core dies, so does everything it started; what it left in the workspace is removed by the next.
func TestCoreKilled(t *testing.T) {
	r := newRig(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	marker := fmt.Sprintf("countersign-core-%d", os.Getpid())
	scratch := privateDir(t)
	core := exec.Command(self, "play", "core", r.broker.o.Init, scratch, r.workspace, marker)
	out, err := core.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := core.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := core.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
		t.Fatalf("%q %v", line, err)
	}
	if err := core.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = core.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for len(processesNamed(marker)) > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if len(r.workspaceEntries()) == 0 {
		t.Error("nothing was left: this test shows nothing")
	}
	next := New(Options{Sink: r.sink, Init: r.broker.o.Init, Scratch: scratch})
	defer next.Close()
	next.Probe(t.Context())
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestStartsFromManyThreads: PR_SET_PDEATHSIG belongs to the forking thread. Without a thread of its own, children were
// killed whenever the runtime retired the thread that had started them.
func TestStartsFromManyThreads(t *testing.T) {
	r := newRig(t)
	const count = 12
	ends := make(chan End, count)
	for range count {
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
			p, err := r.broker.Start(context.Background(), r.spec("sleep 0.3; exit 9"))
			if err != nil {
				ends <- End{Err: err}
				return
			}
			go func() { ends <- p.Wait() }()
		}()
	}
	for range count {
		if end := <-ends; status(end) != 9 || end.Err != nil {
			t.Errorf("%+v", end)
		}
	}
}
