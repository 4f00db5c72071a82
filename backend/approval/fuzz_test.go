package approval_test

import (
	"encoding/json"
	"testing"

	"countersign/backend/approval"
	"countersign/backend/policy"
)

// FuzzCall reads any JSON as a call and proposes it: nothing may panic, what is admitted reads back the same.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"session":"s1","digest":"d","verdict":{"outcome":"allow"}}`,
		`{"session":"s1","digest":"d","principal":{"id":"a","kind":"agent"},"verdict":{"outcome":"allow"},"args":{"command":"x"}}`,
		`{"session":"s1","digest":"d","principal":{"id":"a","kind":"agent"},"verdict":{"outcome":"ask"},"tool_call":"c\u0000"}`,
		`{"session":"s1","digest":"d","created_at":"0001-01-01T00:00:00Z","state":"running","exit":-1,"receipts":["r"]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c approval.Call
		if json.Unmarshal(data, &c) != nil {
			return
		}
		d := newDesk()
		p := proposal("", "sha256:1", policy.Ask)
		p.Call = c
		if c.Verdict.Outcome != policy.Ask {
			p.Question = nil
		}
		a, err := d.Admit(p)
		if err != nil {
			if dump := d.store.Dump(); len(dump) != 0 {
				t.Errorf("a refused call was stored: %v", dump)
			}
			return
		}
		consistent(t, d.store)
		stored := d.call(t, a.Call.ID)
		if stored.Digest != c.Digest || stored.Session != c.Session || stored.State == approval.CallRunning {
			t.Errorf("stored %+v", stored)
		}
		if b, err := d.Admit(p); err != nil && stored.State != approval.CallFinished && c.ToolCall != "" {
			t.Errorf("the same call again: %+v, %v", b, err)
		}
	})
}
