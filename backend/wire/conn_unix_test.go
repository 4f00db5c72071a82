//go:build unix

package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// socketPair returns two connected unix connections.
func socketPair(t *testing.T) (a, b *Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var conns [2]*Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		c, err := net.FileConn(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = NewConn(c)
		t.Cleanup(func() { _ = c.Close() })
	}
	return conns[0], conns[1]
}

// openFiles returns n pipes' reading ends, each with its number in it.
func openFiles(t *testing.T, n int) []*os.File {
	t.Helper()
	var files []*os.File
	for i := range n {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte{byte('0' + i)}); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		t.Cleanup(func() { _ = r.Close() })
		files = append(files, r)
	}
	return files
}

func content(t *testing.T, files []*os.File) (text string) {
	t.Helper()
	for _, f := range files {
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
		_ = f.Close()
	}
	return text
}

// Files arrive with their own message, also when several messages are under way and one of them is long.
func TestFilesBelongToTheirMessage(t *testing.T) {
	a, b := socketPair(t)
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = 'x'
	}
	messages := []struct {
		text  []byte
		files int
	}{{[]byte("one"), 0}, {[]byte("two"), 3}, {[]byte("three"), 0}, {long, 2}, {[]byte("five"), MaxFiles}, {[]byte("six"), 1}}
	sent := make(chan error, 1)
	all := map[int][]*os.File{}
	for i, m := range messages {
		all[i] = openFiles(t, m.files)
	}
	go func() {
		for i, m := range messages {
			if _, err := a.Send(m.text, all[i]); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i, m := range messages {
		text, err := b.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != len(m.text) {
			t.Errorf("message %d has %d bytes, want %d", i, len(text), len(m.text))
		}
		files, err := b.TakeFiles(m.files)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if got := content(t, files); got != "01234567"[:m.files] {
			t.Errorf("message %d came with files %q", i, got)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func TestReceivedFilesAreClosedOnExec(t *testing.T) {
	a, b := socketPair(t)
	if _, err := a.Send([]byte("m"), openFiles(t, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Receive(); err != nil {
		t.Fatal(err)
	}
	files, err := b.TakeFiles(1)
	if err != nil {
		t.Fatal(err)
	}
	flags, err := unix.FcntlInt(files[0].Fd(), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
	_ = files[0].Close()
}

func TestFilesNobodyTookAreClosed(t *testing.T) {
	a, b := socketPair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := a.Send([]byte("m"), []*os.File{w}); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if _, err := b.Receive(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.TakeFiles(2); !errors.Is(err, ErrMalformed) {
		t.Errorf("two files of one: %v, want ErrMalformed", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_ = r.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the passed end is still open: %v", err)
	}
}

func TestTooManyFiles(t *testing.T) {
	t.Run("refused by the sender", func(t *testing.T) {
		a, _ := socketPair(t)
		if _, err := a.Send([]byte("m"), openFiles(t, MaxFiles+1)); !errors.Is(err, ErrTooManyFiles) {
			t.Errorf("error %v, want ErrTooManyFiles", err)
		}
		if _, err := encodeRequest(testID, ActionPing, nil, MaxFiles+1); !errors.Is(err, ErrTooManyFiles) {
			t.Errorf("error %v, want ErrTooManyFiles", err)
		}
	})
	t.Run("in one message of a peer without manners", func(t *testing.T) {
		a, b := socketPair(t)
		var fds []int
		for _, f := range openFiles(t, MaxFiles+2) {
			fds = append(fds, int(f.Fd()))
		}
		if _, _, err := a.Conn.(*net.UnixConn).WriteMsgUnix([]byte("m\n"), unix.UnixRights(fds...), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Receive(); err == nil {
			_, err = b.Receive()
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v, want ErrMalformed", err)
			}
		}
	})
	t.Run("over many messages that announce none", func(t *testing.T) {
		a, b := socketPair(t)
		var last error
		for range 4 {
			if _, err := a.Send([]byte("m"), openFiles(t, MaxFiles)); err != nil {
				t.Fatal(err)
			}
			if _, last = b.Receive(); last != nil {
				break
			}
		}
		if last == nil {
			_, last = b.Receive()
		}
		if !errors.Is(last, ErrMalformed) {
			t.Errorf("error %v, want ErrMalformed", last)
		}
	})
}

func TestFilesThatCannotBePassed(t *testing.T) {
	t.Run("closed", func(t *testing.T) {
		client := startCore(t, echo).dial(t)
		f := openFiles(t, 1)
		_ = f[0].Close()
		if err := client.DoWith(t.Context(), "", ActionRedeemCall, nil, f, nil); !errors.Is(err, ErrBadFile) {
			t.Errorf("error %v, want ErrBadFile", err)
		}
		if err := client.Do(t.Context(), ActionPing, nil, nil); err != nil {
			t.Errorf("the connection did not survive: %v", err)
		}
	})
	t.Run("not over a pipe", func(t *testing.T) {
		l, r := net.Pipe()
		a := NewConn(l)
		defer func() { _, _ = a.Close(), r.Close() }()
		if _, err := a.Send([]byte("m"), openFiles(t, 1)); !errors.Is(err, ErrFilesUnsupported) {
			t.Errorf("error %v, want ErrFilesUnsupported", err)
		}
		go func() { _, _ = r.Write([]byte("m\n")) }()
		if m, err := a.Receive(); err != nil || string(m) != "m" {
			t.Errorf("got %q, %v", m, err)
		}
		if err := checkCoreUser(a.Conn); !errors.Is(err, ErrWrongCore) {
			t.Errorf("error %v, want ErrWrongCore", err)
		}
	})
	t.Run("after close", func(t *testing.T) {
		a, _ := socketPair(t)
		_ = a.Close()
		if err := a.hold(openFiles(t, 1)); !errors.Is(err, ErrMalformed) {
			t.Errorf("error %v, want ErrMalformed", err)
		}
		if _, err := a.Send([]byte("m"), nil); err == nil {
			t.Error("sent over a closed connection")
		}
		if _, err := a.Send(make([]byte, MaxMessage), nil); !errors.Is(err, ErrTooLarge) {
			t.Errorf("error %v, want ErrTooLarge", err)
		}
	})
}
