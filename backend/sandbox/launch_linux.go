package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// startLimit bounds everything from the fork to the report.
	startLimit = 10 * time.Second
	// endLimit bounds the wait for a killed tree. Only a process stuck in the kernel can reach it.
	endLimit = 10 * time.Second
	// diagnosticLimit bounds what is read of bubblewrap's own messages.
	diagnosticLimit = 4 << 10
)

// The descriptors of the init, in the order launch hands them over.
const (
	fdStatus = 4
	fdStdio  = 5
	fdSelf   = 8
)

// box is one boundary with a command in it, or about to be.
type box struct {
	process *os.Process
	control *os.File // to pid 1
	status  *os.File // to the command-to-be; ends when it executes
	notes   *os.File // what bubblewrap says of itself
	report  report

	waited chan struct{} // closed when bubblewrap has been reaped

	mu     sync.Mutex // guards what follows
	pid1   int        // pidfd of the namespace's first process, -1 when unknown or closed
	gone   bool       // nothing is left to kill
	reaped bool       // bubblewrap's process id may be another's
}

// launch starts bubblewrap with the plan, tells the init the message and returns its report of the process that waits
// for go. On an error nothing is left. owners counts the goroutine that reaps bubblewrap. ctx ends the start; afterwards it has no meaning.
func launch(ctx context.Context, owners *sync.WaitGroup, t *tools, p plan, m message, stdio [3]*os.File) (*box, error) {
	m.Handled, m.Filter, m.Rules = t.handled, t.filter, p.Rules
	m.Status, m.Self, m.Last = fdStatus, fdSelf, fdSelf
	m.Stdio = [3]uint32{fdStdio, fdStdio + 1, fdStdio + 2}
	m.TryMounted, m.TryRun, m.TryRoot = p.mountedCanary(), "/run/.countersign-attempt", "/"
	m.Umask = 0o022
	data, err := m.encode()
	if err != nil {
		return nil, err
	}

	b := &box{pid1: -1, waited: make(chan struct{})}
	var theirs []*os.File
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close()
			}
		}
	}
	fail := func(err error) (*box, error) {
		closeAll(theirs...)
		closeAll(b.control, b.status, b.notes)
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fail(err)
	}
	theirs = append(theirs, null)
	if b.notes, err = memory(); err != nil {
		return fail(err)
	}
	var control, status *os.File
	if b.control, control, err = pair(unix.SOCK_STREAM); err != nil {
		return fail(err)
	}
	theirs = append(theirs, control)
	if b.status, status, err = pair(unix.SOCK_SEQPACKET); err != nil {
		return fail(err)
	}
	theirs = append(theirs, status)
	files := []*os.File{null, null, b.notes, control, status, null, null, null, t.program}
	for i, f := range stdio {
		if f != nil {
			files[fdStdio+i] = f
		}
	}
	argv := append([]string{"bwrap"}, p.Args...)
	argv = append(argv, "--", fmt.Sprintf("/proc/self/fd/%d", fdSelf))

	started := make(chan error)
	owners.Go(func() { b.own(t.bubblewrap, argv, files, started) })
	if err := <-started; err != nil {
		return fail(&StartError{Step: "bubblewrap", Err: err})
	}
	closeAll(theirs...)
	stop := context.AfterFunc(ctx, b.kill)
	if err := b.handshake(data); err != nil {
		stop()
		b.discard()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	if !stop() { // killed already
		b.discard()
		return nil, context.Cause(ctx)
	}
	return b, nil
}

// own starts bubblewrap and stays until it has ended. PR_SET_PDEATHSIG, by which the tree dies with the core, belongs to
// the forking thread: without a thread of its own that lives as long, the tree would be killed whenever the runtime
// retires the thread it happened to run on.
func (b *box) own(name string, argv []string, files []*os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	process, err := os.StartProcess(name, argv, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		started <- err
		return
	}
	b.process = process
	started <- nil
	// Until it is reaped, its process id is nobody else's, and so is its group's.
	for errors.Is(unix.Waitid(unix.P_PID, process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	b.mu.Lock()
	if b.pid1 < 0 && !b.gone {
		b.killGroupLocked()
	}
	b.reaped = true
	b.mu.Unlock()
	_, _ = process.Wait() // its status says nothing: pid 1 reports the command's
	close(b.waited)
}

// killGroupLocked kills bubblewrap and its child while both are still one process group. A child that has not yet asked to die
// with its parent waits for the parent for ever when only that is killed.
func (b *box) killGroupLocked() { _ = unix.Kill(-b.process.Pid, unix.SIGKILL) }

// handshake sends the message and reads the report.
func (b *box) handshake(data []byte) error {
	deadline := time.Now().Add(startLimit)
	_ = b.control.SetDeadline(deadline)
	_ = b.status.SetDeadline(deadline)
	if _, err := b.control.Write(data); err != nil {
		return b.early("message", err)
	}
	buf := make([]byte, reportSize+1)
	n, _, err := receive(b.status, buf)
	if err != nil || n == 0 {
		return b.early("report", err)
	}
	if b.report, err = parseReport(buf[:n]); err != nil {
		return &StartError{Step: "report", Err: err}
	}
	if b.report.Kind != kindStart {
		step := "unknown"
		if int(b.report.Step) < len(steps) {
			step = steps[b.report.Step]
		}
		return &StartError{Step: step, Detail: fmt.Sprintf("item %d", b.report.Index), Err: syscall.Errno(b.report.Error)}
	}
	// Pid 1 said hello first; the kernel tells us which process that was. It cannot have been reused: it is alive, since
	// the process it forked has just reported and waits.
	hello := make([]byte, 8)
	n, pid, err := receive(b.control, hello)
	if err != nil || n != len(hello) || pid <= 0 {
		return b.early("hello", err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return &StartError{Step: "pidfd", Err: err}
	}
	b.mu.Lock()
	b.pid1 = fd
	b.mu.Unlock()
	_ = b.control.SetDeadline(time.Time{})
	_ = b.status.SetDeadline(time.Time{})
	return nil
}

// early makes the error for a boundary that ended before it reported: bubblewrap's own words say why.
func (b *box) early(step string, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &StartError{Step: step, Detail: "no answer in " + startLimit.String(), Err: err}
	}
	select {
	case <-b.waited:
	case <-time.After(time.Second):
	}
	return &bubblewrapError{text: b.diagnostics()}
}

// bubblewrapError is a start that ended in bubblewrap.
type bubblewrapError struct{ text string }

func (e *bubblewrapError) Error() string {
	if e.text == "" {
		return "bubblewrap ended without a word"
	}
	return e.text
}

func (b *box) diagnostics() string {
	buf := make([]byte, diagnosticLimit)
	n, _ := b.notes.ReadAt(buf, 0)
	return strings.TrimSpace(string(bytes.ToValidUTF8(buf[:n], []byte("?"))))
}

// kill ends everything inside at once: when pid 1 of the namespace dies, so does all of it.
func (b *box) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
	case b.pid1 >= 0:
		_ = unix.PidfdSendSignal(b.pid1, unix.SIGKILL, nil, 0)
	case !b.reaped:
		b.killGroupLocked() // before the command
	}
}

// discard kills and frees a box whose command never ran.
func (b *box) discard() {
	b.kill()
	_, _ = b.end() // there is no command whose end could be told
}

// end waits until nothing is left of the command and frees the box. When pid 1 has reported, everything it reaped for is
// gone, and only pid 1 itself and bubblewrap are still leaving: taking namespaces down takes milliseconds that nobody
// needs to wait for, except Broker.Close. Without a report, pid 1 was killed, and the kernel ends the rest.
func (b *box) end() (exitReport, error) {
	buf := make([]byte, exitSize+exitPathSize)
	n := 0
	for n < len(buf) {
		got, err := b.control.Read(buf[n:])
		if err != nil || got == 0 {
			break
		}
		n += got
	}
	out, err := parseExit(buf[:n])
	b.mu.Lock()
	fd := b.pid1
	b.mu.Unlock()
	if err != nil {
		b.kill() // whatever closed the socket, nothing may go on without it
		<-b.waited
		if fd >= 0 {
			waitFor(fd, endLimit)
		}
	}
	b.mu.Lock()
	b.pid1 = -1
	b.gone = true
	b.mu.Unlock()
	if fd >= 0 {
		_ = unix.Close(fd)
	}
	_ = b.control.Close()
	_ = b.status.Close()
	_ = b.notes.Close()
	return out, err
}

// waitFor waits until the process behind a pidfd has ended.
func waitFor(fd int, limit time.Duration) {
	deadline := time.Now().Add(limit)
	for left := limit; left > 0; left = time.Until(deadline) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 || (err != nil && !errors.Is(err, unix.EINTR)) {
			return
		}
	}
}

// memory returns a file that exists nowhere but in memory.
func memory() (*os.File, error) {
	fd, err := unix.MemfdCreate("countersign-notes", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &StartError{Step: "memfd", Err: err}
	}
	return os.NewFile(uintptr(fd), "notes"), nil
}

// pair returns a socket pair; ours has deadlines, and is told by the kernel which process a message came from.
func pair(kind int) (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &StartError{Step: "socketpair", Err: err}
	}
	if err = unix.SetNonblock(fds[0], true); err == nil {
		err = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	}
	if err != nil {
		_ = unix.Close(fds[0])
		_ = unix.Close(fds[1])
		return nil, nil, &StartError{Step: "socketpair", Err: err}
	}
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs"), nil
}

// receive reads one message and the pid of its sender in our numbering.
func receive(f *os.File, buf []byte) (n, pid int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	control := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	var inner error
	var controlLen int
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, controlLen, _, _, inner = unix.Recvmsg(int(fd), buf, control, unix.MSG_CMSG_CLOEXEC)
			if !errors.Is(inner, unix.EINTR) {
				return !errors.Is(inner, unix.EAGAIN)
			}
		}
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return 0, 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:controlLen])
	if err != nil {
		return 0, 0, err
	}
	for _, m := range messages {
		if cred, err := unix.ParseUnixCredentials(&m); err == nil {
			pid = int(cred.Pid)
		}
	}
	return n, pid, nil
}
