package state

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"countersign/backend/capability"
)

func TestReceiptsRefuse(t *testing.T) {
	c := newChain(t, 0)
	r := decision("s", "c")
	if _, err := c.open.Append(r); err != nil {
		t.Fatal(err)
	}
	big, invalid, odd := decision("s", "c"), decision("s", "c"), decision("s", "c")
	big.Extra = map[string]string{"x": strings.Repeat("x", maxEntry*3/4)}
	invalid.Kind = "guess"
	odd.Cwd = "/tmp/\xff"
	tests := []struct {
		name   string
		record capability.Record
		want   error
	}{
		{"same id again", r, ErrReceiptExists}, {"empty", capability.Record{}, ErrReceiptInvalid}, {"unknown kind", invalid, ErrReceiptInvalid},
		{"path without canonical form", odd, ErrReceiptInvalid}, {"too large", big, ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := c.open.Append(tt.record); !errors.Is(err, tt.want) && !(tt.want == ErrTooLarge && errors.Is(err, ErrReceiptInvalid)) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	_ = c.open.Close()
	if _, err := c.open.Append(decision("s", "c")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if v := c.verify(nil); !v.Holds() || v.Entries != 1 {
		t.Errorf("%+v", v)
	}
}

// A disk that takes nothing any more, not even the cut that removes what was half written.
func TestReceiptsDiskFails(t *testing.T) {
	c := newChain(t, 0)
	c.append(2)
	c.open.mu.Lock()
	_ = c.open.file.Close()
	c.open.file = must(os.Open(c.path(segmentName(1))))(t) // for reading only
	c.open.mu.Unlock()
	if _, err := c.open.Append(decision("s", "c")); !errors.Is(err, ErrInterrupted) || Hint(err) == "" {
		t.Fatalf("got %v", err)
	}
	if _, err := c.open.Append(decision("s", "c")); !errors.Is(err, ErrInterrupted) {
		t.Errorf("it went on: %v", err)
	}
	c.reopen()
	c.append(1)
	if v := must(c.open.Verify())(t); !v.Holds() || v.Entries != 3 {
		t.Errorf("%+v", v)
	}
}

func TestNextSegmentIsTaken(t *testing.T) {
	c := newChain(t, 1)
	c.append(1)
	if err := os.Mkdir(c.path(segmentName(2)), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.open.Append(decision("s", "c")); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	_ = os.Remove(c.path(segmentName(2)))
	c.append(1)
	c.open.segment = maxSegment
	if _, err := c.open.Append(decision("s", "c")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("after the last number: %v", err)
	}
}

func TestReceiptsNeedAnOpenStore(t *testing.T) {
	c := newChain(t, 0)
	_ = errors.Join(c.open.Close(), c.store.Close())
	if _, err := OpenReceipts(c.dir, c.store, c.id); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := SetAsideReceipts(c.dir, c.store, time.Now()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}
