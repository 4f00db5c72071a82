package capability

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	check := func(what string, words []string, parse func(string) (string, error)) {
		t.Helper()
		for _, word := range words {
			if got, err := parse(word); err != nil || got != word {
				t.Errorf("%s %q = %q, %v", what, word, got, err)
			}
		}
		for _, word := range []string{"", "x", "Shell", "READ-ONLY", "enforced"} {
			if got, err := parse(word); err == nil {
				t.Errorf("%s %q = %q, want an error", what, word, got)
			}
		}
	}
	check("class", []string{"shell", "agent", "gate", "mcp", "integration"}, func(s string) (string, error) {
		v, err := ParseProcessClass(s)
		return v.String(), err
	})
	check("policy", []string{"read-only", "workspace-write", "danger-full-access"}, func(s string) (string, error) {
		v, err := ParseSandboxPolicy(s)
		return v.String(), err
	})
	check("network", []string{"off", "proxied", "open"}, func(s string) (string, error) {
		v, err := ParseNetwork(s)
		return v.String(), err
	})
	check("enforcement", []string{"Enforced", "Advisory", "Unavailable"}, func(s string) (string, error) {
		v, err := ParseEnforcement(s)
		return v.String(), err
	})
	check("kind", []string{"start", "end", "write", "decision"}, func(s string) (string, error) {
		v, err := ParseRecordKind(s)
		return v.String(), err
	})
	check("provenance", []string{"Kernel", "Backend"}, func(s string) (string, error) {
		v, err := ParseProvenance(s)
		return v.String(), err
	})
	if policyRank("") != 0 || networkRank("") != 0 {
		t.Error("an unknown word has a rank")
	}
}

func TestParseSnapshot(t *testing.T) {
	want := mustIntersect(t, base()).Snapshot()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseSnapshot(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{``, `{`, `{"unknown":1}`, `{} {}`, `{} x`, `[]`, `{"cwd":1}`} {
		if _, err := ParseSnapshot([]byte(bad)); err == nil {
			t.Errorf("ParseSnapshot(%q): no error", bad)
		}
	}
}
