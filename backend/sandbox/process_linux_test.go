package sandbox

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"countersign/backend/capability"
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

// cancelling is a sink during whose work the context ends.

// TestCancelledBeforeGo: who went away while the start record was written is not run for.

// TestRealWork: what agents do all day works inside.

// TestCancelAtEveryMoment: wherever the cancellation strikes, nothing is left and every start record has its end.

// TestCoreKilled: when the core dies, so does everything it started; what it left in the workspace is removed by the next.

// TestStartsFromManyThreads: PR_SET_PDEATHSIG belongs to the forking thread. Without a thread of its own, children were

// killed whenever the runtime retired the thread that had started them.
