package desk

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"countersign/backend/wire"
)

func TestParseLink(t *testing.T) {
	const id = "0197a3c4-5d6e-7f80-9123-456789abcdef"
	unknown := wire.Link{Kind: wire.LinkUnknown}
	for name, tt := range map[string]struct {
		url  string
		want wire.Link
	}{
		"nothing":           {"", wire.Link{Kind: wire.LinkNone}},
		"an approval":       {"countersign://approval/" + id, wire.Link{Kind: wire.LinkApproval, ID: id}},
		"a session":         {"countersign://session/" + id, wire.Link{Kind: wire.LinkSession, ID: id}},
		"a project":         {"countersign://project/work_1", wire.Link{Kind: wire.LinkProject, ID: "work_1"}},
		"a receipt":         {"countersign://receipt/" + id, wire.Link{Kind: wire.LinkReceipt, ID: id}},
		"the longest id":    {"countersign://receipt/" + strings.Repeat("a", maxLinkID), wire.Link{Kind: wire.LinkReceipt, ID: strings.Repeat("a", maxLinkID)}},
		"too long an id":    {"countersign://receipt/" + strings.Repeat("a", maxLinkID+1), unknown},
		"too long a link":   {"countersign://receipt/" + strings.Repeat("a", maxLink), unknown},
		"only the scheme":   {"countersign://", unknown},
		"no id":             {"countersign://approval/", unknown},
		"no slash":          {"countersign://approval", unknown},
		"another kind":      {"countersign://answer/" + id, unknown},
		"pairing":           {"countersign://pair/x", unknown},
		"another scheme":    {"https://approval/" + id, unknown},
		"upper case":        {"COUNTERSIGN://approval/" + id, unknown},
		"one slash":         {"countersign:/approval/" + id, unknown},
		"a trailing slash":  {"countersign://approval/" + id + "/", unknown},
		"a query":           {"countersign://approval/" + id + "?allow=1", unknown},
		"a fragment":        {"countersign://approval/" + id + "#allow", unknown},
		"an encoded id":     {"countersign://approval/%61%62", unknown},
		"a path":            {"countersign://project/../../etc", unknown},
		"a blank before it": {" countersign://approval/" + id, unknown},
		"a line end":        {"countersign://approval/" + id + "\n", unknown},
		"a NUL":             {"countersign://approval/a\x00", unknown},
		"another alphabet":  {"countersign://approval/\u0430", unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ParseLink(tt.url); got != tt.want {
				t.Errorf("ParseLink(%q) = %+v, want %+v", tt.url, got, tt.want)
			}
		})
	}
}

func TestNamedBy(t *testing.T) {
	list := []string{"aa-1111-3333", "bb-2222-3333", "cc-2222-4444", "3333"}
	for id, want := range map[string]int{"aa-1111-3333": 1, "1-3333": 1, "22-3333": 1, "3333": 3, "2-4444": 1, "333": 0, "": 0, "bb-2222": 0, "5555": 0} {
		if found := NamedBy(list, id, func(s string) string { return s }); len(found) != want {
			t.Errorf("%q names %q, want %d", id, found, want)
		}
	}
}

// TestLinksHaveAPause: a detached process sent 1688 links in a second, and each raised the window.
func TestLinksHaveAPause(t *testing.T) {
	var gate linkGate
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	passed := 0
	for range 1000 {
		if gate.admit(now) {
			passed++
		}
		now = now.Add(time.Millisecond)
	}
	if passed > int(time.Second/linkPause) {
		t.Errorf("%d links passed within a second", passed)
	}
	if !gate.admit(now) || !gate.admit(now.Add(-time.Hour)) {
		t.Error("no link passes a second later, or with a clock that was set back")
	}
}

// FuzzParseLink: what is taken is exactly what we would write ourselves, and what is logged cannot act on a reader.
func FuzzParseLink(f *testing.F) {
	for _, seed := range []string{"", "countersign://approval/a", "countersign://receipt/\x1b[2J", "countersign://session/a/b", "javascript:alert(1)", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		switch link := ParseLink(url); link.Kind {
		case wire.LinkNone:
			if url != "" {
				t.Errorf("%q only opens the window", url)
			}
		case wire.LinkUnknown:
			if link.ID != "" {
				t.Errorf("%q is unknown and has an id", url)
			}
		default:
			if url != linkPrefix+link.Kind+"/"+link.ID || link.ID == "" {
				t.Errorf("%q was taken for %+v", url, link)
			}
		}
		if logged := loggable(url); len(logged) > 4*maxLogged || strings.ContainsFunc(logged, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is logged as %q", url, logged)
		}
	})
}
