package sandbox

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"countersign/backend/capability"
)

func TestProbeShowsEveryProtection(t *testing.T) {
	r := newRig(t)
	report := r.broker.Probe(t.Context())
	var names []string
	for _, p := range report.Protections {
		if !p.OK || p.Detail == "" || p.Fix != "" {
			t.Errorf("%+v", p)
		}
		names = append(names, p.Name)
	}
	want := []string{"namespaces", "mounts", "landlock", "network", "seccomp", "no_new_privs", "capabilities"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if report.Backend != backendName || !strings.Contains(report.Version, "bubblewrap") {
		t.Errorf("%+v", report)
	}
}

func TestFilesOutsideTheRootsAreOutOfReach(t *testing.T) {
	r := newRig(t)
	outside := resolved(t, t.TempDir())
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home directory")
	}
	for name, script := range map[string]string{
		"read":              "cat " + secret,
		"write":             "echo x > " + secret,
		"create":            "echo x > " + outside + "/new",
		"through parent":    "cat ../" + filepath.Base(filepath.Dir(outside)) + "/" + filepath.Base(outside) + "/secret",
		"through link":      "ln -s " + secret + " link && cat link",
		"list home":         "ls " + home,
		"write home":        "echo x > " + home + "/x",
		"remove system":     "rm /usr/bin/env",
		"write system":      "echo x > /usr/x",
		"write etc":         "echo x > /etc/x",
		"chmod system":      "chmod 777 /usr/bin/env",
		"new in root":       "mkdir /x",
		"write run":         "echo x > /run/x",
		"shadow":            "cat /etc/shadow",
		"core pattern":      "echo x > /proc/sys/kernel/core_pattern",
		"memory of init":    "cat /proc/1/environ",
		"root of init":      "ls /proc/1/root/",
		"descriptors of 1":  "ls -l /proc/1/fd/",
		"device":            "cat /dev/vda /dev/sda /dev/kmsg",
		"mount":             "mount -t tmpfs none /tmp",
		"scratch of others": "ls " + filepath.Dir(filepath.Dir(r.scratch)) + "/sessions",
	} {
		t.Run(name, func(t *testing.T) {
			if out, code := r.script(script); code == 0 {
				t.Errorf("succeeded: %q", out)
			}
		})
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("%q %v", text, err)
	}
}

func TestWorkspaceIsWritable(t *testing.T) {
	r := newRig(t)
	r.write("old/file", "1")
	out, code := r.script(`set -e
echo 2 > new; echo 3 >> old/file; mkdir d; mv new d/; ln -s d/new l; ln d/new hard; mkfifo f; rm hard f
echo hi > "$TMPDIR/t"; echo hi > ~/h; cat d/new old/file; cat l "$TMPDIR/t" ~/h; : > /dev/null; echo "$HOME" >/dev/shm/x`)
	if code != 0 || out != "2\n13\n2\nhi\nhi" {
		t.Errorf("%d %q", code, out)
	}
	// What the session keeps for itself is there for its next command.
	if out, code := r.script(`cat /tmp/t ~/h`); code != 0 || out != "hi\nhi" {
		t.Errorf("%d %q", code, out)
	}
}

func TestReadOnlyKeepsNothing(t *testing.T) {
	r := newRig(t)
	r.policy = capability.ReadOnly
	r.write("file", "1")
	if out, code := r.script("cat file; echo x > new"); code == 0 || !strings.HasPrefix(out, "1") {
		t.Errorf("%d %q", code, out)
	}
	if out, code := r.script("echo x > file"); code == 0 {
		t.Errorf("%q", out)
	}
	if out, code := r.script("echo x > /tmp/t && echo x > ~/h && cat /tmp/t ~/h"); code != 0 {
		t.Errorf("%d %q", code, out)
	}
	if out, code := r.script("cat /tmp/t || cat ~/h"); code == 0 {
		t.Errorf("kept: %q", out)
	}
	if diff := cmp.Diff([]string{"file"}, r.workspaceEntries()); diff != "" {
		t.Error(diff)
	}
}

func TestRootsOfTheCapability(t *testing.T) {
	r := newRig(t)
	extra, none := resolved(t, t.TempDir()), filepath.Join(r.workspace, "none")
	home, err := os.UserHomeDir()
	if err != nil || within("/tmp", home) {
		home = "/var/lib" // nothing below /tmp can be a metadata root
	}
	listed, err := os.MkdirTemp(home, "countersign-test-")
	if err != nil {
		t.Skipf("no place for a metadata root: %v", err)
	}
	defer os.RemoveAll(listed)
	listed = resolved(t, listed)
	if err := os.WriteFile(filepath.Join(extra, "neighbour"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{extra, listed} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.write("none/file", "denied")
	r.write("single", "denied")
	r.change = func(req *capability.Request) {
		req.ReadRoots = append(req.ReadRoots, filepath.Join(extra, "file"))
		req.MetadataRoots = []string{listed}
		req.DeniedRoots = []string{none, filepath.Join(r.workspace, "single"), filepath.Join(r.workspace, "missing", "deep")}
	}
	for _, c := range []struct {
		name, script string
		ok           bool
	}{
		{"single file readable", "cat " + extra + "/file", true},
		{"its neighbours absent", "cat " + extra + "/neighbour", false},
		{"metadata listed", "ls " + listed + " | grep file && stat " + listed + "/file", true},
		{"metadata not read", "cat " + listed + "/file", false},
		{"denied directory", "cat none/file", false},
		{"denied directory listed", "ls none", false},
		{"denied directory written", "echo x > none/new", false},
		{"denied directory moved", "mv none other", false},
		{"denied file", "cat single", false},
		{"denied file replaced", "rm -f single && echo x > single", false},
		{"denied missing", "mkdir -p missing/deep", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, code := r.script(c.script); (code == 0) != c.ok {
				t.Errorf("%d %q", code, out)
			}
		})
	}
	if diff := cmp.Diff([]string{"none", "single"}, r.workspaceEntries()); diff != "" {
		t.Error(diff)
	}
}

func TestProtectedPathsStayAsTheyAre(t *testing.T) {
	r := newRig(t)
	r.write(".git/config", "[core]\n")
	r.write(".git/hooks/pre-commit.sample", "#!/bin/sh\n")
	r.write(".claude/settings.json", "{}")
	before := r.workspaceEntries()
	for _, script := range []string{
		"echo x >> .git/config", "rm .git/config", "mv .git/config .git/c", "echo x > .git/hooks/pre-commit",
		"rm -r .git/hooks", "mv .git .git2", "mv .git/hooks .git/h", "chmod 777 .git/hooks", "ln -sf /bin/true .git/hooks/post-commit",
		"echo x > .claude/settings.json", "rm -r .claude", "mv .claude x", // existing
		"echo x > .mcp.json", "rm .mcp.json", "mv .mcp.json x", "mkdir .codex/x", "echo x > .vscode/tasks.json", "rmdir .agents", // missing
		"mv .countersign x", "ln -s /tmp .cursor", "ln .mcp.json y",
		"git config user.name x",
	} {
		t.Run(script, func(t *testing.T) {
			if out, code := r.script(script); code == 0 {
				t.Errorf("succeeded: %q", out)
			}
		})
	}
	if diff := cmp.Diff(before, r.workspaceEntries()); diff != "" {
		t.Error(diff)
	}
	// Everything else of a repository works.
	if out, code := r.script("mkdir .git/objects && echo x > .git/HEAD && mv .git/HEAD .git/HEAD2 && rm -r .git/objects"); code != 0 {
		t.Errorf("%d %q", code, out)
	}
}

func TestProtectedLinkIsReported(t *testing.T) {
	r := newRig(t)
	r.write("real/settings.json", "{}")
	if err := os.Symlink("real", filepath.Join(r.workspace, ".claude")); err != nil {
		t.Fatal(err)
	}
	if out, code := r.script("echo x > .claude/settings.json"); code == 0 {
		t.Errorf("target written: %q", out)
	}
	_, end := r.run(r.spec("rm .claude && mkdir .claude && echo x > .claude/settings.json"))
	if diff := cmp.Diff([]string{strconv.Quote(filepath.Join(r.workspace, ".claude")) + ": a protected link changed"}, end.Findings); diff != "" {
		t.Error(diff)
	}
	all := r.sink.all()
	if all[len(all)-1].Extra["findings"] != end.Findings[0] {
		t.Error("not on the record")
	}
}

func TestNetworkIsOff(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct{ name, want string }{
		{"dial tcp " + l.Addr().String(), "EACCES"},
		{"dial tcp 192.0.2.1:80", "EACCES"},
		{"dial tcp6 [2001:db8::1]:80", "EACCES"},
		{"dial udp 192.0.2.1:53", "ENETUNREACH"},
		{"listen tcp 127.0.0.1:0", "EACCES"},
		{"dial unix /run/systemd/private", "EACCES"},
		{"dial unix /var/run/docker.sock", "EACCES"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := strings.Fields(c.name)
			if got := r.attempt(parts[0], parts[1:]...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAbstractSocketsOfTheHostAreAbsent(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("unix", "@countersign-test-"+filepath.Base(r.workspace))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := r.attempt("dial", "unix", l.Addr().String()); got != "EACCES" {
		t.Error(got)
	}
}

// TestSocketFilesInTheWorkspaceAreOutOfReach: a server of the host's that listened on a socket file in the workspace (a
// debugger, a language server, a container engine) took orders from boxed commands.
func TestSocketFilesInTheWorkspaceAreOutOfReach(t *testing.T) {
	r := newRig(t)
	r.bring()
	t.Chdir(r.workspace)
	l, err := net.Listen("unix", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := r.attempt("dial", "unix", "s"); got != "EACCES" {
		t.Errorf("stream: %s", got)
	}
	d, err := net.ListenPacket("unixgram", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := r.attempt("dial", "unixgram", "d"); got != "EACCES" {
		t.Errorf("datagram: %s", got)
	}
}

func TestRefusedSystemCalls(t *testing.T) {
	r := newRig(t)
	for name, want := range map[string]string{
		"unshare": "EPERM", "setns": "EPERM", "clonens": "EPERM", "clone3": "ENOSYS", "mount": "EPERM", "ptrace": "EPERM",
		"vmread": "EPERM", "keyctl": "EPERM", "bpf": "EPERM", "perf": "EPERM", "uffd": "EPERM", "iouring": "ENOSYS",
		"handle": "EPERM", "newest": "ENOSYS", "vsock": "EAFNOSUPPORT", "alg": "EAFNOSUPPORT", "packet": "EAFNOSUPPORT",
		"audit": "EAFNOSUPPORT", "mptcp": "EPROTONOSUPPORT", "sti": "EPERM", "killinit": "EPERM",
		"unixgram": "EACCES",
		"route":    "ok", "unixpair": "ok", // what programs need
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.attempt(name); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestNothingOfTheCallersIsInherited(t *testing.T) {
	r := newRig(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("LD_PRELOAD", "")
	// A descriptor as a C library leaves it: not close-on-exec.
	fd, err := unix.Open("/etc/hostname", unix.O_RDONLY, 0)
	if err != nil {
		t.Skip("no /etc/hostname")
	}
	defer unix.Close(fd)
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 200)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(high)
	if got := r.attempt("descriptors"); got != "0 1 2" {
		t.Errorf("descriptors: %s", got)
	}
	var names []string
	for line := range strings.SplitSeq(r.attempt("environment"), "\n") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"GIT_TERMINAL_PROMPT", "GOFLAGS", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TMPDIR", "USER", "_"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	// The command and its child, and pid 1, which tells nothing.
	if got := r.attempt("processes"); len(strings.Fields(got)) > 3 || strings.Fields(got)[0] != "1" {
		t.Errorf("processes: %s", got)
	}
}

func TestSignalsOfTheCoreAreNotInherited(t *testing.T) {
	r := newRig(t)
	if out, code := r.script("grep -E '^Sig(Blk|Ign)' /proc/self/status | awk '{print $2}' | sort -u"); code != 0 || out != "0000000000000000" {
		t.Errorf("%d %q", code, out)
	}
}

func TestExplicitEnvironment(t *testing.T) {
	r := newRig(t)
	s := r.spec(`echo "$HOME $MINE"`)
	s.Environment = map[string]string{"PATH": "/usr/bin", "HOME": "/tmp/h", "MINE": "x"}
	if _, err := r.broker.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "MINE") {
		t.Errorf("%v", err)
	}
	r.change = func(req *capability.Request) { req.Environment = append(req.Environment, "MINE") }
	env := s.Environment
	s = r.spec(s.Script)
	s.Environment = env
	if out, _ := r.run(s); out != "/tmp/h x\n" {
		t.Errorf("%q", out)
	}
	first := r.sink.all()[0]
	if diff := cmp.Diff([]string{"GOFLAGS", "HOME", "MINE", "PATH", "TMPDIR"}, first.Environment); diff != "" {
		t.Error(diff)
	}
}

// TestAsOrdinaryUser runs the tests of the boundary again as nobody, when they run as root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: these tests run as an ordinary user already")
	}
	r := newRig(t)
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "countersign-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := copyFile(self, filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(r.broker.o.Init, filepath.Join(dir, "init")); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"", "tmp", "home"} {
		path := filepath.Join(dir, sub)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "self"), "-test.v", "-test.timeout=150s", "-test.run", "^Test(Probe|Files|Workspace|ReadOnly|Roots|Protected|Network|Abstract|Refused|Nothing|Signals|Explicit|Kill|Exit|Core|CommonDir|Repositories|NewRepo|Linked|Socket|OurOwn|Hidden)")
	cmd.Dir = filepath.Join(dir, "tmp")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir + "/home", "TMPDIR=" + dir + "/tmp", "COUNTERSIGN_TEST_INIT=" + dir + "/init"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Logf("skipped as an ordinary user:\n%s", out)
	}
	if !strings.Contains(string(out), "--- PASS: TestFilesOutside") {
		t.Errorf("did not run:\n%s", out)
	}
}
