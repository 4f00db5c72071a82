package state

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a crash leaves of an entry is moved aside, kept, and named by the next entry.
func TestTornEntry(t *testing.T) {
	for name, garbage := range map[string]string{
		"half a line":                    `{"payloadType":"application/vnd.in-toto+json","payl`,
		"a whole line without its end":   "", // filled in below
		"blocks that never were written": strings.Repeat("\x00", 700) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t, 0)
			c.append(3)
			_ = c.open.Close()
			path := c.path(segmentName(1))
			whole := must(os.ReadFile(path))(t)
			if garbage == "" {
				garbage = string(bytes.Split(whole, []byte("\n"))[2])
			}
			if err := os.WriteFile(path, append(bytes.Clone(whole), garbage...), 0o600); err != nil {
				t.Fatal(err)
			}
			if v := c.verify(&c.heads[2]); !v.Holds() || v.Cut != len(garbage) {
				t.Errorf("offline, before it was opened: %+v", v)
			}
			// Who knows no head cannot tell blocks that were never written from an entry that was destroyed.
			if v := c.verify(nil); strings.HasSuffix(garbage, "\n") == v.Holds() {
				t.Errorf("offline, without a head: %s", v)
			}
			c.reopen()
			file := tornName(1, int64(len(whole)))
			if kept := must(os.ReadFile(c.path(file)))(t); string(kept) != garbage {
				t.Errorf("kept %q", kept)
			}
			if now := must(os.ReadFile(path))(t); !bytes.Equal(now, whole) {
				t.Error("the segment is not what was complete")
			}
			if v := c.verify(nil); !v.Holds() || cmp.Diff([]string{file}, v.Unnamed) != "" {
				t.Errorf("before the next entry: %+v", v)
			}
			// The core ends again before anything is appended: the piece is not forgotten.
			c.reopen()
			c.append(1)
			want := []Torn{{File: file, Bytes: int64(len(garbage)), Digest: lineDigest([]byte(garbage))}}
			e := must(c.open.List(Filter{Limit: 1}))(t)[0]
			if diff := cmp.Diff(want, e.Torn); diff != "" {
				t.Error(diff)
			}
			c.append(1)
			c.reopen()
			v := c.verify(nil)
			if diff := cmp.Diff(want, v.Torn); diff != "" || !v.Holds() || v.Entries != 5 || len(v.Unnamed) != 0 {
				t.Errorf("%s: %+v", diff, v)
			}
		})
	}
	// A crash in the middle of moving aside: the piece is saved already and not cut yet.
	t.Run("interrupted", func(t *testing.T) {
		c := newChain(t, 0)
		c.append(1)
		_ = c.open.Close()
		path := c.path(segmentName(1))
		whole := must(os.ReadFile(path))(t)
		_ = os.WriteFile(path, append(bytes.Clone(whole), "half"...), 0o600)
		_ = os.WriteFile(c.path(tornName(1, int64(len(whole)))), []byte("half"), 0o600)
		c.reopen()
		_ = c.open.Close()
		_ = os.WriteFile(path, append(bytes.Clone(whole), "other"...), 0o600)
		if _, err := OpenReceipts(c.dir, c.store, c.id); !errors.Is(err, ErrReceiptsBroken) {
			t.Errorf("a piece was replaced: %v", err)
		}
	})
}

// An entry that was acknowledged can not be torn: its loss is a break, however it looks.
func TestAcknowledgedEntryIsNeverCalledTorn(t *testing.T) {
	c := newChain(t, 0)
	c.append(3)
	path := c.path(segmentName(1))
	data := must(os.ReadFile(path))(t)
	if err := os.WriteFile(path, data[:len(data)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if v := c.verify(&c.heads[2]); v.Holds() || v.Break.Reason != BreakTorn || v.Break.Sequence != 3 {
		t.Errorf("verify: %s", v)
	}
	c.reopenFails(BreakTorn)
	if after := must(os.ReadFile(path))(t); len(after) != len(data)-10 {
		t.Error("the file was changed")
	}
}
