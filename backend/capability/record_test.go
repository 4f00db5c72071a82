package capability

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/pathid"
)

var (
	at     = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	digest = Digest("x")
)

func startRecord(t *testing.T) Record {
	s := mustIntersect(t, base()).Snapshot()
	return Record{
		ID: "0190-a", Kind: RecordStart, Time: at, Request: "r", Call: "c", Session: "s", Principal: "agent/demo/s",
		Class: ClassShell, Tool: "bash", ArgvDigest: digest, Cwd: "/w", CwdIdentity: pathid.Identity{Device: 1, Inode: 2},
		Effective: &s, Environment: []string{"PATH"}, Backend: "bubblewrap", Version: "0.8", Enforcement: Enforced,
		Layers: []Layer{{Name: "seccomp", Detail: "missing"}, {Name: "landlock", OK: true, Detail: "ABI 7"}}, StartedAt: at,
	}
}

func endRecord() Record {
	zero := 0
	return Record{ID: "b", Kind: RecordEnd, Time: at, Call: "c", Start: "0190-a", StartedAt: at, EndedAt: at.Add(time.Second), ExitStatus: &zero,
		Denials: []Denial{{Call: "c", Operation: "openat", Target: "/etc", Provenance: ProvenanceKernel, Time: at}}}
}

func writeRecord() Record {
	return Record{ID: "w", Kind: RecordWrite, Time: at, Call: "c",
		Write: &WriteRecord{Path: "/w/a", OldDigest: digest, NewDigest: digest, Published: "exchange"}}
}

func decisionRecord() Record {
	return Record{ID: "d", Kind: RecordDecision, Time: at, Call: "c", Tool: "bash"}
}

func TestRecordValidate(t *testing.T) {
	with := func(r Record, change func(*Record)) Record {
		change(&r)
		return r
	}
	start := startRecord(t)
	full := mustIntersect(t, changed(func(r *Request) { r.Policy = DangerFullAccess })).Snapshot()
	tests := []struct {
		name  string
		r     Record
		field string // "" for valid
	}{
		{"start", start, ""},
		{"end", endRecord(), ""},
		{"end by signal", with(endRecord(), func(r *Record) { r.ExitStatus, r.Signal = nil, "SIGKILL" }), ""},
		{"end by cause", with(endRecord(), func(r *Record) { r.ExitStatus, r.Cause = nil, "client_gone" }), ""},
		{"write", writeRecord(), ""},
		{"new file", with(writeRecord(), func(r *Record) { r.Write.OldDigest = "" }), ""},
		{"decision", decisionRecord(), ""},
		{"unavailable by override", with(start, func(r *Record) { r.Enforcement, r.Layers = Unavailable, nil }), ""},
		{"full access is advisory", with(start, func(r *Record) { r.Enforcement, r.Effective, r.Layers = Advisory, &full, nil }), ""},
		{"request without a call", with(start, func(r *Record) { r.Call = "" }), ""},

		{"no kind", with(start, func(r *Record) { r.Kind = "" }), "kind"},
		{"no id", with(start, func(r *Record) { r.ID = "" }), "id"},
		{"id with a slash", with(start, func(r *Record) { r.ID = "../a" }), "id"},
		{"no time", with(start, func(r *Record) { r.Time = time.Time{} }), "time"},
		{"no call", with(start, func(r *Record) { r.Call, r.Request = "", "" }), "call"},
		{"unknown class", with(start, func(r *Record) { r.Class = "x" }), "class"},
		{"argv is not a digest", with(start, func(r *Record) { r.ArgvDigest = "rm -rf" }), "argv_digest"},
		{"environment with a value", with(start, func(r *Record) { r.Environment = []string{"TOKEN=secret"} }), "environment"},
		{"too many denials", with(endRecord(), func(r *Record) { r.Denials = slices.Repeat(r.Denials, MaxDenials+1) }), "denials"},
		{"denial from output", with(endRecord(), func(r *Record) { r.Denials = []Denial{{Operation: "x", Provenance: "Output", Time: at}} }), "provenance"},
		{"denial of nothing", with(endRecord(), func(r *Record) { r.Denials = []Denial{{Provenance: ProvenanceBackend, Time: at}} }), "operation"},
		{"denial without time", with(endRecord(), func(r *Record) { r.Denials = []Denial{{Operation: "x", Provenance: ProvenanceBackend}} }), "time"},
		{"start that writes", with(start, func(r *Record) { r.Write = writeRecord().Write }), "write"},
		{"start that ended", with(start, func(r *Record) { r.EndedAt = at }), "end"},
		{"start without class", with(start, func(r *Record) { r.Class = "" }), "class"},
		{"start without argv", with(start, func(r *Record) { r.ArgvDigest = "" }), "argv_digest"},
		{"start without capability", with(start, func(r *Record) { r.Effective = nil }), "effective"},
		{"start with a broken capability", with(start, func(r *Record) { r.Effective = &Snapshot{} }), "effective"},
		{"start without enforcement", with(start, func(r *Record) { r.Enforcement = "" }), "enforcement"},
		{"enforced without evidence", with(start, func(r *Record) { r.Layers = r.Layers[:1] }), "layers"},
		{"enforced without backend", with(start, func(r *Record) { r.Backend = "" }), "backend"},
		{"enforced full access", with(start, func(r *Record) { r.Effective = &full }), "enforcement"},
		{"enforced integration", with(start, func(r *Record) { r.Class = ClassIntegration }), "enforcement"},
		{"advisory in a box", with(start, func(r *Record) { r.Enforcement = Advisory }), "enforcement"},
		{"end without start", with(endRecord(), func(r *Record) { r.Start = "" }), "start"},
		{"end without end", with(endRecord(), func(r *Record) { r.EndedAt = time.Time{} }), "ended_at"},
		{"end before start", with(endRecord(), func(r *Record) { r.StartedAt = at.Add(time.Hour) }), "ended_at"},
		{"status and signal", with(endRecord(), func(r *Record) { r.Signal = "SIGTERM" }), "signal"},
		{"no way to end", with(endRecord(), func(r *Record) { r.ExitStatus = nil }), "exit_status"},
		{"negative use", with(endRecord(), func(r *Record) { r.UserCPU = -1 }), "usage"},
		{"end with unknown enforcement", with(endRecord(), func(r *Record) { r.Enforcement = "Total" }), "enforcement"},
		{"write of nothing", with(writeRecord(), func(r *Record) { r.Write = nil }), "write"},
		{"write without path", with(writeRecord(), func(r *Record) { r.Write = &WriteRecord{NewDigest: digest, Published: "link"} }), "write.path"},
		{"write without digest", with(writeRecord(), func(r *Record) { r.Write = &WriteRecord{Path: "/a", Published: "link"} }), "write.new_digest"},
		{"write with a bad digest", with(writeRecord(), func(r *Record) {
			r.Write = &WriteRecord{Path: "/a", OldDigest: "x", NewDigest: digest, Published: "link"}
		}), "write.old_digest"},
		{"write by magic", with(writeRecord(), func(r *Record) { r.Write = &WriteRecord{Path: "/a", NewDigest: digest} }), "write.published"},
		{"decision that claims a boundary", with(decisionRecord(), func(r *Record) { r.Enforcement = Enforced }), "enforcement"},
		{"decision with denials", with(decisionRecord(), func(r *Record) { r.Denials = endRecord().Denials }), "enforcement"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.r.Validate()
			if tt.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, ErrRecord) || !strings.Contains(err.Error(), ": "+tt.field+": ") {
				t.Errorf("Validate = %v, want %s", err, tt.field)
			}
		})
	}
}

func TestRecordSurvivesJSON(t *testing.T) {
	for _, r := range []Record{startRecord(t), endRecord(), writeRecord(), decisionRecord()} {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Record
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Error(diff)
		}
		if Digest(r) != Digest(back) {
			t.Errorf("%s: another digest after reading back", r.Kind)
		}
	}
}
