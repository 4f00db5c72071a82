package wire

import (
	"net"
	"os"
	"sync"
)

const (
	// MaxFiles is how many descriptors may travel with one message.
	MaxFiles = 8
	// maxHeldFiles bounds the descriptors received and not yet taken: those of the message being read and those of
	// the one behind it.
	maxHeldFiles = 2 * MaxFiles
)

// Conn carries messages, and descriptors where the system can pass them, over one connection. One goroutine may
// receive while another sends.
//
// Descriptors arrive no later than the message they were sent with, and in the order of their messages; the Request
// says how many are its own. (Linux and BSD differ in which read returns them, see unix(7), so position is no guide.)
type Conn struct {
	net.Conn
	reader *Reader

	mu     sync.Mutex // guards files and closed
	files  []*os.File // received and not taken; the connection owns them
	closed bool
}

// NewConn returns a Conn over raw and takes raw over.
func NewConn(raw net.Conn) *Conn {
	c := &Conn{Conn: raw}
	c.reader = NewReader(receiver{c})
	return c
}

// receiver is the reading half of a Conn that also collects descriptors.
type receiver struct{ c *Conn }

func (r receiver) Read(p []byte) (int, error) {
	n, files, err := readWithFiles(r.c.Conn, p)
	if len(files) > 0 {
		if held := r.c.hold(files); held != nil {
			return n, held
		}
	}
	return n, err
}

// hold keeps received descriptors until they are taken or the connection is closed.
func (c *Conn) hold(files []*os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.files)+len(files) > maxHeldFiles {
		closeFiles(files)
		return malformedf("more files were passed than messages announced")
	}
	c.files = append(c.files, files...)
	return nil
}

// Receive returns the next message. See Reader.Next for the errors.
func (c *Conn) Receive() ([]byte, error) { return c.reader.Next() }

// TakeFiles hands over the n oldest descriptors received. The caller owns them.
func (c *Conn) TakeFiles(n int) ([]*os.File, error) {
	if n == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < 0 || n > len(c.files) {
		return nil, malformedf("%d files were announced and %d passed", n, len(c.files))
	}
	taken := c.files[:n:n]
	c.files = c.files[n:]
	return taken, nil
}

// Send writes one message and its newline, with files. It returns how many bytes were written: after an error the
// connection can only be used further when that is 0.
func (c *Conn) Send(message []byte, files []*os.File) (int, error) {
	if len(message) >= MaxMessage {
		return 0, ErrTooLarge
	}
	if len(files) > MaxFiles {
		return 0, ErrTooManyFiles
	}
	line := make([]byte, 0, len(message)+1)
	line = append(append(line, message...), '\n')
	if len(files) == 0 {
		return c.Write(line)
	}
	return writeWithFiles(c.Conn, line, files)
}

// Close closes the connection and the descriptors that nobody took.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	files := c.files
	c.files = nil
	c.mu.Unlock()
	closeFiles(files)
	return c.Conn.Close()
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
