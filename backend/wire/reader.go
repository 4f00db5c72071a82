package wire

import (
	"bytes"
	"errors"
	"io"
)

const (
	// readChunk is how much is read at once, and what the buffer shrinks to after a long message.
	readChunk = 64 << 10
	// maxEmptyReads is how often a source may return neither bytes nor an error.
	maxEmptyReads = 100
)

// Reader splits a stream into messages. It holds at most one message and what was read beyond its end.
type Reader struct {
	source  io.Reader
	buffer  []byte // unread bytes are buffer[start:]
	start   int
	scanned int // bytes after start known to hold no newline
	err     error
}

// NewReader returns a Reader of source.
func NewReader(source io.Reader) *Reader { return &Reader{source: source} }

// Next returns the next message without its newline; the caller owns it. Empty lines are skipped. At the end of the
// stream it returns io.EOF, inside a message io.ErrUnexpectedEOF, and for a message that is too long ErrTooLarge, after
// which the stream is of no use: its rest is not read.
func (r *Reader) Next() ([]byte, error) {
	for {
		unread := r.buffer[r.start:]
		if i := bytes.IndexByte(unread[r.scanned:], '\n'); i >= 0 {
			line := unread[:r.scanned+i]
			r.start += len(line) + 1
			r.scanned = 0
			if len(line) >= MaxMessage {
				r.buffer, r.start, r.err = nil, 0, ErrTooLarge
				return nil, r.err
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			return bytes.Clone(line), nil
		}
		r.scanned = len(unread)
		if r.scanned >= MaxMessage {
			r.buffer, r.start, r.scanned, r.err = nil, 0, 0, ErrTooLarge
		}
		if r.err != nil {
			if errors.Is(r.err, io.EOF) && r.scanned > 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, r.err
		}
		r.fill()
	}
}

// fill reads once. The buffer grows with what arrives, never with what was announced.
func (r *Reader) fill() {
	unread := r.buffer[r.start:]
	switch {
	case len(unread) == 0 && cap(r.buffer) != readChunk:
		r.buffer = make([]byte, 0, readChunk)
	case cap(r.buffer)-len(unread) < readChunk/4:
		r.buffer = append(make([]byte, 0, 2*cap(r.buffer)), unread...)
	case r.start > 0:
		r.buffer = append(r.buffer[:0], unread...)
	}
	r.start = 0
	for range maxEmptyReads {
		n, err := r.source.Read(r.buffer[len(r.buffer):min(cap(r.buffer), len(r.buffer)+readChunk)])
		r.buffer = r.buffer[:len(r.buffer)+n]
		if n > 0 || err != nil {
			r.err = err
			return
		}
	}
	r.err = io.ErrNoProgress
}
