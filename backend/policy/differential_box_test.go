package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A box is a throw-away machine in which bash runs any line: an empty root in memory, no network, no user, and nothing on
// PATH but recorders (testdata/recorder). It stays for many lines; each starts with the same few files, and everything that
// it left running is gone before the next.
type box struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
}

// boxWork is the directory that lines start in; boxHome the home directory.
const (
	boxHome = "/home/u"
	boxWork = "/home/u/w"
)

// boxPrograms are the names on PATH. Any other name is recorded as well, as a program that was not found.
var boxPrograms = strings.Fields(`rm mv curl make zz evil git ls cat printf tee touch cp sort dd sed truncate true echo
	env xargs find timeout nice nohup stdbuf setsid time ionice chrt taskset setarch flock prlimit script strace
	sh dash bash sudo doas busybox toybox kill sleep test pwd false missing`)

// program is one program that ran: what it was started as, and its arguments with the name that it was told.
type program struct {
	name string
	args []string
}

// boxRun is what one line did.
type boxRun struct {
	ran     []program
	changed []string // files that were made or written
	late    bool     // the line did not end by itself
}

// recorder builds the program of the box, once.
var recorder = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "recorder"); err != nil {
		return "", err
	}
	recorderDir = dir
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "recorder"), "./testdata/recorder")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the recorder: %w: %s", err, out)
	}
	for _, name := range boxPrograms {
		if err := os.Symlink("recorder", filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, os.Chmod(dir, 0o755)
})

// recorderDir is what TestMain removes.
var recorderDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if recorderDir != "" {
		_ = os.RemoveAll(recorderDir)
	}
	os.Exit(code)
}

// newBox starts a box, or skips the test where there can be none.
func newBox(tb testing.TB) *box {
	tb.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		tb.Skip("bubblewrap is not installed")
	}
	if _, err := os.Stat("/usr/bin/bash"); err != nil {
		tb.Skip("no /usr/bin/bash")
	}
	args := []string{
		"--unshare-all", "--die-with-parent", "--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "box",
	}
	for _, dir := range []string{"/lib", "/lib64", "/lib32"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else if _, err := os.Stat(dir); err == nil {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	for _, dir := range []string{"/usr/lib", "/usr/lib64"} {
		if _, err := os.Stat(dir); err == nil {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	if exec.Command(bwrap, append(args, "--ro-bind", "/usr/bin", "/real/bin", "--proc", "/proc", "--dev", "/dev",
		"/real/bin/bash", "-c", ":")...).Run() != nil {
		tb.Skip("no unprivileged namespaces for bubblewrap")
	}
	dir, err := recorder()
	if err != nil {
		tb.Fatal(err)
	}
	args = append(args, "--ro-bind", "/usr/bin", "/real/bin", "--ro-bind", dir, "/usr/bin", "--symlink", "usr/bin", "/bin",
		"--proc", "/proc", "--dev", "/dev", "/usr/bin/recorder")
	b := &box{cmd: exec.Command(bwrap, args...)}
	b.cmd.Stderr = os.Stderr
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	if b.out, err = b.cmd.StdoutPipe(); err != nil {
		tb.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = b.in.Close()
		_ = b.cmd.Wait()
	})
	return b
}

// run runs a line. An error is one of the box, not of the line.
func (b *box) run(line string) (boxRun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out boxRun
	if err := binary.Write(b.in, binary.LittleEndian, uint32(len(line))); err != nil {
		return out, err
	}
	if _, err := io.WriteString(b.in, line); err != nil {
		return out, err
	}
	var size uint32
	if err := binary.Read(b.out, binary.LittleEndian, &size); err != nil {
		return out, err
	}
	answer := make([]byte, size)
	if _, err := io.ReadFull(b.out, answer); err != nil {
		return out, err
	}
	if len(answer) < 5 {
		return out, errors.New("a short answer")
	}
	out.late = answer[0] != 0
	at := 5 + int(binary.LittleEndian.Uint32(answer[1:]))
	if at > len(answer) {
		return out, errors.New("a short answer")
	}
	out.changed = nulFields(answer[5:at])
	for fields := nulFields(answer[at:]); len(fields) > 0; {
		var n int
		if _, err := fmt.Sscan(fields[0], &n); err != nil || n < 1 || n >= len(fields) {
			return out, fmt.Errorf("an unreadable record %q", fields)
		}
		out.ran = append(out.ran, program{name: fields[1], args: fields[2 : n+1]})
		fields = fields[n+1:]
	}
	return out, nil
}

func nulFields(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}
