package state

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// ReceiptsDir is the name of the receipts directory in the state directory.
	ReceiptsDir = "receipts"

	segmentSuffix = ".jsonl"
	tornSuffix    = ".torn"
	segmentDigits = 6
	maxSegment    = 999_999
	receiptsLock  = "lock"
)

func segmentName(n int) string {
	return fmt.Sprintf("%0*d%s", segmentDigits, n, segmentSuffix)
}

func tornName(segment int, offset int64) string {
	return fmt.Sprintf("%0*d-%d%s", segmentDigits, segment, offset, tornSuffix)
}

// layout is what lies in a receipts directory.
type layout struct {
	segments int      // numbered 1 … segments without a gap
	gap      int      // the first missing number below an existing one, or 0
	torn     []string // names, sorted
	foreign  []string // names that are not ours, sorted
}

func readLayout(dir string) (layout, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return layout{}, err
	}
	var l layout
	var numbers []int
	for _, e := range names {
		name := e.Name()
		digits, isSegment := strings.CutSuffix(name, segmentSuffix)
		n, err := strconv.Atoi(digits)
		switch {
		case isSegment && err == nil && n > 0 && name == segmentName(n):
			numbers = append(numbers, n)
		case strings.HasSuffix(name, tornSuffix):
			l.torn = append(l.torn, name)
		case name != receiptsLock:
			l.foreign = append(l.foreign, name)
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			l.gap = i + 1
			break
		}
		l.segments = n
	}
	return l, nil
}

// errCutOff says that a segment ends inside a line.
var errCutOff = errors.New("the line has no end")

// lines reads a segment line by line, at most maxEntry bytes each.
type lines struct {
	r      *bufio.Reader
	offset int64 // of the line that next returns
	buf    []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end and its offset; line is valid until the following call. At the end it
// returns io.EOF, or errCutOff with what is left. A line that is too long is ErrTooLarge.
func (l *lines) next() (line []byte, offset int64, err error) {
	l.buf = l.buf[:0]
	offset = l.offset
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		l.offset += int64(len(part))
		switch {
		case len(l.buf) > maxEntry:
			return nil, offset, ErrTooLarge
		case err == nil:
			return l.buf[:len(l.buf)-1], offset, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			return l.buf, offset, errCutOff
		default:
			return nil, offset, err
		}
	}
}

// atEnd reports whether nothing follows the line that next returned last.
func (l *lines) atEnd() bool {
	_, err := l.r.Peek(1)
	return err != nil
}

// openSegment opens segment n for reading, or for writing too.
func openSegment(dir string, n, flag int) (*os.File, error) {
	return openPrivate(filepath.Join(dir, segmentName(n)), flag)
}
