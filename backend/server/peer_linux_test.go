package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// socketVariable tells a role where the server is; childVariable what its child is to play.
const (
	socketVariable = "COUNTERSIGN_SERVER_TEST_SOCKET"
	childVariable  = "COUNTERSIGN_SERVER_TEST_CHILD"
)

// roles are the programs the test binary plays.
var roles = map[string]func() int{
	"ask":    playAsk,
	"parent": playParent,
	"leave":  playLeave,
	"orphan": playOrphan,
	"heir":   playHeir,
	"other":  playOther,
}

// playAsk connects and makes one request.
func playAsk() int {
	c, err := wire.Dial(context.Background(), wire.DialOptions{Socket: os.Getenv(socketVariable), Timeout: 20 * time.Second})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = c.Close() }()
	if err := c.Do(context.Background(), "who", nil, nil); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// command re-executes the test binary in a role.
func command(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, "GOCOVERDIR=") // a role measures no coverage
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// playParent runs the child and waits for it.
func playParent() int {
	if err := command(os.Getenv(childVariable), "child-of-parent").Run(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// playLeave starts an orphan through a process that ends at once, and stays: the double fork.
func playLeave() int {
	if os.Getenv(childVariable) == "middle" {
		cmd := command("orphan")
		cmd.Env = append(cmd.Env, "COUNTERSIGN_SERVER_TEST_MIDDLE="+strconv.Itoa(os.Getpid()))
		if err := cmd.Start(); err != nil {
			return 1
		}
		return 0
	}
	middle := command("leave")
	middle.Env = append(middle.Env, childVariable+"=middle")
	if err := middle.Run(); err != nil {
		return 1
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // stays, as the leader of the terminal, until the test says
	return 0
}

// playOrphan waits until it has another parent, then asks.
func playOrphan() int {
	for os.Getenv("COUNTERSIGN_SERVER_TEST_MIDDLE") == strconv.Itoa(os.Getppid()) {
		time.Sleep(time.Millisecond)
	}
	return playAsk()
}

// playHeir connects, says hello, leaves the connection to a child of another program, and ends.
func playHeir() int {
	raw, err := net.Dial("unix", os.Getenv(socketVariable))
	if err != nil {
		return 1
	}
	c := wire.NewConn(raw)
	hello, err := wire.NewClientHello().Encode()
	if err != nil {
		return 1
	}
	if _, err := c.Send(hello, nil); err != nil {
		return 1
	}
	if _, err := c.Receive(); err != nil {
		return 1
	}
	f, err := raw.(*net.UnixConn).File()
	if err != nil {
		return 1
	}
	// The child waits until this process is reaped: its own standard input is closed then by the test.
	child := exec.Command("sh", "-c", `read go; echo '{"action":"who","command_id":"0198c0de-0000-7000-8000-000000000001"}' >&3`)
	child.ExtraFiles = []*os.File{f}
	child.Stdin = os.Stdin
	if err := child.Start(); err != nil {
		return 1
	}
	return 0
}

// playOther becomes another user and connects.
func playOther() int {
	if err := unix.Setuid(65534); err != nil {
		return 2
	}
	raw, err := net.Dial("unix", os.Getenv(socketVariable))
	if err != nil {
		fmt.Println(err)
		return 3
	}
	message, err := wire.NewConn(raw).Receive()
	if err != nil {
		fmt.Println(err)
		return 4
	}
	in, err := wire.DecodeIncoming(message)
	if err != nil || in.Reply == nil || in.Reply.Error == nil || in.Reply.Error.Code != wire.CodeWrongUser {
		fmt.Println(string(message))
		return 5
	}
	// The client refuses such a core on its own, too.
	if _, err := wire.Dial(context.Background(), wire.DialOptions{Socket: os.Getenv(socketVariable)}); !errors.Is(err, wire.ErrWrongCore) {
		fmt.Println(err)
		return 6
	}
	return 0
}

// witnessDesk hands on the peer of every request.
func witnessDesk() (*fakeDesk, chan wire.Peer) {
	peers := make(chan wire.Peer, 10)
	d := newFakeDesk()
	d.do = func(_ context.Context, caller desk.Caller, _ wire.Request, _ []*os.File) wire.Reply {
		peers <- caller.Peer
		return wire.Reply{Applied: true}
	}
	return d, peers
}

func TestAncestryOfAGrandchild(t *testing.T) {
	d, peers := witnessDesk()
	r := start(t, d)
	cmd := command("parent", "one", "two words")
	cmd.Env = append(cmd.Env, childVariable+"=ask", socketVariable+"="+r.socket)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	peer := within(t, peers, "the request")
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if !peer.Complete || len(peer.Chain) != len(self.Chain)+2 {
		t.Fatalf("chain %+v", peer.Chain)
	}
	if got := peer.Chain[0].Args[1:]; len(got) != 1 || got[0] != "child-of-parent" {
		t.Errorf("arguments of the peer: %q", got)
	}
	if p := peer.Chain[1]; p.PID != cmd.Process.Pid || strings.Join(p.Args[1:], "|") != "one|two words" {
		t.Errorf("parent %+v", p)
	}
	for i, want := range self.Chain {
		if got := peer.Chain[i+2]; got.PID != want.PID || got.Start != want.Start || got.Exe != want.Exe {
			t.Errorf("ancestor %d is %+v, want %+v", i, got, want)
		}
	}
	if peer.Chain[0].Start < peer.Chain[1].Start || peer.Chain[1].Start < peer.Chain[2].Start {
		t.Errorf("a child is older than its parent: %+v", peer.Chain[:3])
	}
}

// A process that made a pseudo-terminal and left its ancestry by a double fork has no agent above it. Its terminal and
// its session are still seen: that is what a terminal answer is judged by.
func TestTerminalOfADoubleFork(t *testing.T) {
	d, peers := witnessDesk()
	r := start(t, d)
	cmd := command("leave")
	cmd.Env = append(cmd.Env, socketVariable+"="+r.socket)
	cmd.Stdout, cmd.Stderr = nil, nil
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	defer func() { _ = terminal.Close() }()
	peer := within(t, peers, "the request")
	if peer.TTY == 0 {
		t.Error("the terminal is not seen")
	}
	if peer.Session != cmd.Process.Pid {
		t.Errorf("session %d, want the leader %d", peer.Session, cmd.Process.Pid)
	}
	for _, p := range peer.Chain {
		if p.PID == cmd.Process.Pid {
			t.Errorf("the double fork did not leave its ancestry: %+v", peer.Chain)
		}
	}
	leader, err := lookAt(cmd.Process.Pid)
	if err != nil || leader.tty != peer.TTY {
		t.Errorf("the leader's terminal is %d (%v), the orphan's %d", leader.tty, err, peer.TTY)
	}
	if _, err := terminal.WriteString("\n"); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A connection belongs to the process that opened it. The child it was left to gets no answer.
func TestConnectionLeftToAChild(t *testing.T) {
	d, peers := witnessDesk()
	r := start(t, d)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	cmd := command("heir")
	cmd.Env = append(cmd.Env, socketVariable+"="+r.socket)
	cmd.Stdin = in
	cmd.Stdout, cmd.Stderr = nil, nil
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	within(t, d.left, "the end of the connection")
	select {
	case p := <-peers:
		t.Errorf("the child was served as %+v", p.Chain[0])
	default:
	}
	if !strings.Contains(r.log.String(), "after the peer ended") {
		t.Errorf("log: %s", r.log.String())
	}
}

func TestKilledClientEndsRequests(t *testing.T) {
	d, begun, causes := waitingDesk()
	do := d.do
	d.do = func(ctx context.Context, caller desk.Caller, req wire.Request, files []*os.File) wire.Reply {
		req.Action = "wait"
		return do(ctx, caller, req, files)
	}
	r := start(t, d)
	cmd := command("ask")
	cmd.Env = append(cmd.Env, socketVariable+"="+r.socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, begun, "the request")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if cause := within(t, causes, "the end of the request"); !errors.Is(cause, desk.ErrClientGone) {
		t.Errorf("cause %v, want ErrClientGone", cause)
	}
	_ = cmd.Wait()
}

func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: another user's process")
	}
	r := start(t, newFakeDesk())
	// Open the door, which is closed to other users twice, to see what is behind it.
	dir := r.socket[:strings.LastIndexByte(r.socket, '/')]
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(r.socket, 0o666)); err != nil {
		t.Fatal(err)
	}
	cmd := command("other")
	cmd.Env = append(cmd.Env, socketVariable+"="+r.socket)
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	if len(r.desk.gone) != 0 {
		t.Error("the desk heard of it")
	}
}

func TestPeerOf(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	if _, err := PeerOf(a); !errors.Is(err, ErrPeerUnknown) {
		t.Errorf("error %v, want ErrPeerUnknown", err)
	}
	socket := shortDir(t) + "/s"
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := PeerOf(c)
	if err != nil || peer.Chain[0].PID != os.Getpid() {
		t.Errorf("peer %+v, %v", peer, err)
	}
	_ = c.Close()
	if _, err := PeerOf(c); !errors.Is(err, ErrPeerUnknown) {
		t.Errorf("a closed connection: %v, want ErrPeerUnknown", err)
	}
}

func TestWitnessWithoutPidfd(t *testing.T) {
	self, err := readStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	h := processHandle{fd: -1, pid: os.Getpid(), start: self.start}
	if !h.alive() {
		t.Error("this process is taken for dead")
	}
	h.start++
	if h.alive() {
		t.Error("another process with the number is taken for it")
	}
	h.pid = -5
	if h.alive() {
		t.Error("no process is taken for alive")
	}
	h.close()
}

func TestParseStat(t *testing.T) {
	const rest = " 20 30 40 34816 50 4194304 1 0 0 0 1 2 3 4 20 0 1 0 12345 1000 200"
	tests := []struct {
		name, text string
		want       stat
		ok         bool
	}{
		{"plain", "10 (bash) S" + rest, stat{name: "bash", state: 'S', parent: 20, session: 40, tty: 34816, start: 12345}, true},
		{"a name made to mislead", "10 (x) S 1 1 1 0 (y) Z" + rest, stat{name: "x) S 1 1 1 0 (y", state: 'Z', parent: 20, session: 40, tty: 34816, start: 12345}, true},
		{"a name with a newline", "10 (a\nb) S" + rest, stat{name: "a\nb", state: 'S', parent: 20, session: 40, tty: 34816, start: 12345}, true},
		{"a negative terminal", "10 (a) S 20 30 40 -1 50 4194304 1 0 0 0 1 2 3 4 20 0 1 0 12345", stat{name: "a", state: 'S', parent: 20, session: 40, tty: 0xffffffff, start: 12345}, true},
		{"empty", "", stat{}, false},
		{"no name", "10 bash S" + rest, stat{}, false},
		{"turned round", "10 )bash( S" + rest, stat{}, false},
		{"cut off", "10 (bash) S 20 30", stat{}, false},
		{"a long state", "10 (bash) SS" + rest, stat{}, false},
		{"parent", "10 (a) S x 30 40 0 50 4 1 0 0 0 1 2 3 4 20 0 1 0 12345", stat{}, false},
		{"session", "10 (a) S 20 30 x 0 50 4 1 0 0 0 1 2 3 4 20 0 1 0 12345", stat{}, false},
		{"terminal", "10 (a) S 20 30 40 x 50 4 1 0 0 0 1 2 3 4 20 0 1 0 12345", stat{}, false},
		{"start", "10 (a) S 20 30 40 0 50 4 1 0 0 0 1 2 3 4 20 0 1 0 -1", stat{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.text))
			if (err == nil) != tt.ok || got != tt.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("10 (bash) S 20 30 40 34816 50 4194304 1 0 0 0 1 2 3 4 20 0 1 0 12345 1000 200"))
	f.Add([]byte("10 (a) b) S"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := parseStat(data); err != nil && s != (stat{}) {
			t.Errorf("half a result: %+v", s)
		}
	})
}
