package tray

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one message in bytes, its line feed included. A state of thirteen shortened lines needs a tenth of it.
const maxLine = 64 << 10

// Order is what the parent tells the helper: a state, numbered from 1.
type Order struct {
	Number int64 `json:"number"`
	State  State `json:"state"`
}

// Report is what the helper tells the parent.
type Report struct {
	Kind   ReportKind `json:"kind"`
	Number int64      `json:"number,omitempty"` // of ReportShown
	ID     string     `json:"id,omitempty"`     // of ReportClicked
}

// ReportKind says which report it is.
type ReportKind string

// The kinds of reports.
const (
	ReportReady   ReportKind = "ready"   // the icon is there, without a menu yet
	ReportShown   ReportKind = "shown"   // the state with Number was applied
	ReportClicked ReportKind = "clicked" // the line with ID
)

var errTooLong = errors.New("line too long")

// Write writes one message as a line.
func Write(w io.Writer, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	if len(line) >= maxLine {
		return fmt.Errorf("write message: %w", errTooLong)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// Reader reads messages. After an error it is of no use any more.
type Reader struct{ lines *bufio.Reader }

// NewReader returns a reader of the messages in r. It holds at most one line in memory.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, maxLine)} }

// Read reads one message. io.EOF is the end between two messages; a line that is too long, cut off, or no object of that
// form is another error. Fields it does not know are left alone, so that a newer side can say more.
func (r *Reader) Read(message any) error {
	line, err := r.lines.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return io.EOF
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		err = errTooLong
	} else if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("read message: not an object") // "null" would be taken for one without fields
	}
	if err := json.Unmarshal(line, message); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	return nil
}
