package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func readAll(r *Reader) (messages []string, err error) {
	for {
		m, err := r.Next()
		if err != nil {
			return messages, err
		}
		messages = append(messages, string(m))
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", MaxMessage-1)
	tests := []struct {
		name  string
		input string
		want  []string
		err   error
	}{
		{"nothing", "", nil, io.EOF},
		{"two", "a\nb\n", []string{"a", "b"}, io.EOF},
		{"empty lines are skipped", "\n\r\n \na\n\n", []string{"a"}, io.EOF},
		{"cut off", "a\nb", []string{"a"}, io.ErrUnexpectedEOF},
		{"NUL bytes are a message like any other", "\x00\n", []string{"\x00"}, io.EOF},
		{"exactly the limit", long + "\na\n", []string{long, "a"}, io.EOF},
		{"one more", "a\n" + long + "x\nb\n", []string{"a"}, ErrTooLarge},
		{"5 MB without an end", strings.Repeat("x", 5<<20), nil, ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.input))
			got, err := readAll(r)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%.300s", diff)
			}
			if _, again := r.Next(); !errors.Is(again, tt.err) {
				t.Errorf("asked again: %v, want %v", again, tt.err)
			}
		})
	}
}

// endless is a peer that never ends its message.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestReaderStopsReadingWhatIsTooLong(t *testing.T) {
	source := &endless{}
	if _, err := NewReader(source).Next(); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("error %v, want ErrTooLarge", err)
	}
	if source.read > MaxMessage+readChunk {
		t.Errorf("read %d bytes of a message of at most %d", source.read, MaxMessage)
	}
}

// stuck is a source that returns neither bytes nor an error.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestReaderNoProgress(t *testing.T) {
	if _, err := NewReader(stuck{}).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v, want io.ErrNoProgress", err)
	}
}

func TestReaderKeepsErrorBehindMessages(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(iotest.DataErrReader(io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken))))
	got, err := readAll(r)
	if !errors.Is(err, broken) || len(got) != 2 {
		t.Errorf("got %q, %v", got, err)
	}
}

// chunked returns its bytes in pieces of the given sizes, over and over.
type chunked struct {
	data  []byte
	sizes []int
	turn  int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := min(c.sizes[c.turn%len(c.sizes)], len(p), len(c.data))
	c.turn++
	copy(p, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}

// However the stream is cut, the messages are the same, and a message handed out is not changed by the next.
func TestReaderIsIndependentOfChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(readChunk-2, 3*readChunk))
		var want [][]byte
		var stream []byte
		for i := range rapid.IntRange(0, 8).Draw(t, "messages") {
			m := bytes.Repeat([]byte{byte('a' + i)}, size.Draw(t, "size"))
			want = append(want, m)
			stream = append(append(stream, m...), '\n')
		}
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1000, 200_000)), 1, 5).Draw(t, "chunks")
		r := NewReader(&chunked{data: stream, sizes: sizes})
		var got [][]byte
		for {
			m, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m)
		}
		if !slices.EqualFunc(want, got, bytes.Equal) {
			t.Fatalf("%d messages became %d", len(want), len(got))
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), 1)
	f.Add([]byte("\n\n\n"), 2)
	f.Add([]byte("{\"a\":1}\r\n{}"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		r := NewReader(&chunked{data: bytes.Clone(stream), sizes: []int{max(1, size)}})
		var got []string
		for {
			m, err := r.Next()
			if err != nil {
				break
			}
			got = append(got, string(m))
		}
		var want []string
		lines := strings.Split(string(stream), "\n")
		for _, line := range lines[:len(lines)-1] {
			if strings.TrimSpace(line) != "" {
				want = append(want, line)
			}
		}
		if !cmp.Equal(want, got) {
			t.Fatalf("%q in chunks of %d became %q, want %q", stream, size, got, want)
		}
	})
}
