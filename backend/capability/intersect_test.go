package capability

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func same(t *rapid.T, what string, a, b Effective, errA, errB error) {
	t.Helper()
	if (errA == nil) != (errB == nil) {
		t.Fatalf("%s: errors %v and %v", what, errA, errB)
	}
	if diff := cmp.Diff(a.Snapshot(), b.Snapshot()); diff != "" {
		t.Fatalf("%s:\n%s", what, diff)
	}
	if !a.Equal(b) {
		t.Fatalf("%s: not Equal", what)
	}
}

func TestIntersectIsCommutative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := atRoot(genRequest.Draw(t, "request"))
		ceilings := rapid.SliceOfN(genCeiling, 0, 4).Draw(t, "ceilings")
		a, errA := Intersect(req, ceilings...)
		shuffled := rapid.Permutation(ceilings).Draw(t, "shuffled")
		b, errB := Intersect(req, shuffled...)
		same(t, "order of ceilings", a, b, errA, errB)

		// The request and a ceiling made from another request may change places too, all but class and cwd.
		other := atRoot(genRequest.Draw(t, "other"))
		other.Class, other.Cwd = req.Class, req.Cwd
		fromOther, err := CeilingFrom(other)
		if err != nil {
			t.Fatal(err)
		}
		fromReq, err := CeilingFrom(req)
		if err != nil {
			t.Fatal(err)
		}
		a, errA = Intersect(req, fromOther)
		b, errB = Intersect(other, fromReq)
		same(t, "request and ceiling", a, b, errA, errB)
	})
}

func TestIntersectIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := atRoot(genRequest.Draw(t, "request"))
		c, d := genCeiling.Draw(t, "c"), genCeiling.Draw(t, "d")
		once, errOnce := Intersect(req, c, d)
		inner, errInner := Intersect(req, c)
		if errInner != nil {
			if errOnce == nil {
				t.Fatalf("refused under one ceiling (%v) and given under two", errInner)
			}
			return
		}
		twice, errTwice := Intersect(inner.Snapshot().Request, d)
		same(t, "one after the other", once, twice, errOnce, errTwice)
		viaParent, errParent := Intersect(req, inner.Ceiling(), d)
		same(t, "through a parent", once, viaParent, errOnce, errParent)
	})
}

func TestIntersectIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := atRoot(genRequest.Draw(t, "request"))
		c := genCeiling.Draw(t, "ceiling")
		once, errOnce := Intersect(req, c)
		twice, errTwice := Intersect(req, c, c)
		same(t, "one ceiling twice", once, twice, errOnce, errTwice)
		if errOnce != nil {
			return
		}
		own, errOwn := Intersect(once.Snapshot().Request, once.Ceiling())
		same(t, "its own ceiling", once, own, nil, errOwn)
		restored, errRestored := FromSnapshot(once.Snapshot())
		same(t, "restored", once, restored, nil, errRestored)
		if Digest(once.Snapshot()) != Digest(restored.Snapshot()) {
			t.Fatal("restored capability has another digest")
		}
	})
}

// The result is a subset of the request and of every ceiling: as Covers sees it, and point by point.
func TestIntersectOnlyTakesAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := atRoot(genRequest.Draw(t, "request"))
		ceilings := rapid.SliceOfN(genCeiling, 0, 3).Draw(t, "ceilings")
		got, err := Intersect(req, ceilings...)
		if err != nil {
			return
		}
		whole, err := newBounds(req)
		if err != nil {
			t.Fatal(err)
		}
		operands := []bounds{whole}
		for _, c := range ceilings {
			operands = append(operands, c.b)
		}
		s := got.Snapshot().Request
		for i, op := range operands {
			for _, path := range paths {
				allowedBy := func(set rootSet) bool { return set.covers(path) && !op.denied.covers(path) }
				if got.MayWrite(path) && !allowedBy(op.write) || got.MayRead(path) && !allowedBy(op.read) {
					t.Fatalf("operand %d does not give %s, the result does: %+v", i, path, s)
				}
			}
			if err := op.widerReach(got.b.reach); err != nil {
				t.Fatalf("operand %d: %v", i, err)
			}
			for _, name := range s.Environment {
				if !op.names.has(name) {
					t.Fatalf("operand %d does not give %s", i, name)
				}
			}
			if err := op.limits.wider(s.Limits); err != nil {
				t.Fatalf("operand %d: %v", i, err)
			}
			if op.limits.MemoryBytes != 0 && s.Limits.MemoryBytes == 0 {
				t.Fatalf("operand %d limits memory, the result does not", i)
			}
			if policyRank(s.Policy) > policyRank(op.policy) || s.Shell && !op.shell {
				t.Fatalf("operand %d is narrower in policy or shell", i)
			}
		}
		// And what all operands give, the result gives: nothing is lost by accident.
		for _, path := range paths {
			all := true
			for _, op := range operands {
				all = all && op.read.covers(path) && !op.denied.covers(path)
			}
			if all != got.MayRead(path) {
				t.Fatalf("all operands give %s: %v, the result: %v", path, all, got.MayRead(path))
			}
		}
		if s.Policy == ReadOnly && len(s.WriteRoots) > 0 {
			t.Fatalf("read-only with write roots %q", s.WriteRoots)
		}
		for _, root := range s.WriteRoots {
			if !got.b.read.covers(root) {
				t.Fatalf("%s may be written and not read", root)
			}
		}
	})
}

func base() Request {
	return Request{
		Class: ClassShell, Policy: WorkspaceWrite, Shell: true, Cwd: "/w",
		ReadRoots: []string{"/usr", "/w"}, WriteRoots: []string{"/w", "/t"}, MetadataRoots: []string{"/w", "/home"},
		DeniedRoots: []string{"/w/.git/hooks"}, Network: NetworkProxied, Targets: []string{"*.example.org:443", "a.b.net"},
		Environment: []string{"PATH", "LANG", "PATH"}, Limits: Limits{MemoryBytes: 10, WallClock: time.Second},
	}
}

func changed(change func(*Request)) Request {
	req := base()
	change(&req)
	return req
}

func TestIntersect(t *testing.T) {
	normal := base()
	normal.ReadRoots = []string{"/t", "/usr", "/w"}
	normal.WriteRoots = []string{"/t", "/w"}
	normal.MetadataRoots = []string{"/home"}
	normal.Environment = []string{"LANG", "PATH"}
	narrow := func(change func(*Request)) Request {
		r := normal
		change(&r)
		return r
	}
	ceiling := func(change func(*Request)) Ceiling {
		c, err := CeilingFrom(changed(change))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	deny, err := DenyCeiling([]string{"/w/secret", "/w/secret/x"})
	if err != nil {
		t.Fatal(err)
	}
	write, err := PolicyCeiling(WorkspaceWrite)
	if err != nil {
		t.Fatal(err)
	}
	readOnly, err := PolicyCeiling(ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		ceiling Ceiling
		want    Request
	}{
		{"full", FullCeiling(), normal},
		{"not plan", ModeCeiling(false), normal},
		{"its own policy", write, normal},
		{"plan", ModeCeiling(true), narrow(func(r *Request) {
			r.Policy, r.WriteRoots, r.Network, r.Targets = ReadOnly, []string{}, NetworkOff, []string{}
		})},
		{"read-only policy keeps the network", readOnly, narrow(func(r *Request) { r.Policy, r.WriteRoots = ReadOnly, []string{} })},
		{"denied roots unite", deny, narrow(func(r *Request) { r.DeniedRoots = []string{"/w/.git/hooks", "/w/secret"} })},
		{"deeper root of the ceiling", ceiling(func(r *Request) {
			r.ReadRoots, r.WriteRoots = []string{"/w", "/usr/lib", "/usr-other"}, []string{"/w/out", "/t"}
		}), narrow(func(r *Request) {
			r.ReadRoots, r.WriteRoots = []string{"/t", "/usr/lib", "/w"}, []string{"/t", "/w/out"}
		})},
		{"wider root of the ceiling", ceiling(func(r *Request) { r.ReadRoots, r.WriteRoots = nil, []string{"/"} }), normal},
		{"targets", ceiling(func(r *Request) { r.Targets = []string{"api.example.org", "b.net"} }), narrow(func(r *Request) {
			r.Targets = []string{"api.example.org:443"}
		})},
		{"no common target is no network", ceiling(func(r *Request) { r.Targets = []string{"x.net"} }), narrow(func(r *Request) {
			r.Network, r.Targets = NetworkOff, []string{}
		})},
		{"open network keeps the targets", ceiling(func(r *Request) { r.Network, r.Targets = NetworkOpen, nil }), normal},
		{"off", ceiling(func(r *Request) { r.Network = NetworkOff }), narrow(func(r *Request) { r.Network, r.Targets = NetworkOff, []string{} })},
		{"environment", ceiling(func(r *Request) { r.Environment = []string{"PATH", "HOME"} }), narrow(func(r *Request) {
			r.Environment = []string{"PATH"}
		})},
		{"limits", ceiling(func(r *Request) { r.Limits = Limits{MemoryBytes: 20, WallClock: time.Millisecond, Processes: 3} }), narrow(func(r *Request) {
			r.Limits = Limits{MemoryBytes: 10, WallClock: time.Millisecond, Processes: 3}
		})},
		{"shell", ceiling(func(r *Request) { r.Shell = false }), narrow(func(r *Request) { r.Shell = false })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Intersect(base(), tt.ceiling)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Snapshot{tt.want}, got.Snapshot()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIntersectRefuses(t *testing.T) {
	many := slices.Repeat([]string{"/a"}, MaxEntries+1)
	tests := []struct {
		name    string
		req     Request
		ceiling Ceiling
		err     error
	}{
		{"no class", changed(func(r *Request) { r.Class = "" }), FullCeiling(), ErrInvalid},
		{"unknown policy", changed(func(r *Request) { r.Policy = "all" }), FullCeiling(), ErrInvalid},
		{"no network word", changed(func(r *Request) { r.Network = "" }), FullCeiling(), ErrInvalid},
		{"no cwd", changed(func(r *Request) { r.Cwd = "" }), FullCeiling(), ErrInvalid},
		{"relative cwd", changed(func(r *Request) { r.Cwd = "w" }), FullCeiling(), ErrInvalid},
		{"relative root", changed(func(r *Request) { r.ReadRoots = []string{"w"} }), FullCeiling(), ErrInvalid},
		{"empty root", changed(func(r *Request) { r.WriteRoots = []string{""} }), FullCeiling(), ErrInvalid},
		{"parent in a root", changed(func(r *Request) { r.WriteRoots = []string{"/w/../etc"} }), FullCeiling(), ErrInvalid},
		{"slash at the end", changed(func(r *Request) { r.MetadataRoots = []string{"/w/"} }), FullCeiling(), ErrInvalid},
		{"nul", changed(func(r *Request) { r.DeniedRoots = []string{"/w\x00"} }), FullCeiling(), ErrInvalid},
		{"invalid UTF-8", changed(func(r *Request) { r.DeniedRoots = []string{"/w\xff"} }), FullCeiling(), ErrInvalid},
		{"unc root", changed(func(r *Request) { r.ReadRoots = []string{`\\srv\x`} }), FullCeiling(), ErrInvalid},
		{"device on a drive", changed(func(r *Request) { r.ReadRoots = []string{`C:\NUL`} }), FullCeiling(), ErrInvalid},
		{"too many roots", changed(func(r *Request) { r.ReadRoots = many }), FullCeiling(), ErrInvalid},
		{"too many names", changed(func(r *Request) { r.Environment = many }), FullCeiling(), ErrInvalid},
		{"too many targets", changed(func(r *Request) { r.Targets = slices.Repeat([]string{"a.b"}, MaxEntries+1) }), FullCeiling(), ErrInvalid},
		{"bad target", changed(func(r *Request) { r.Targets = []string{"*"} }), FullCeiling(), ErrInvalid},
		{"empty name", changed(func(r *Request) { r.Environment = []string{""} }), FullCeiling(), ErrInvalid},
		{"name with a value", changed(func(r *Request) { r.Environment = []string{"A=b"} }), FullCeiling(), ErrInvalid},
		{"long name", changed(func(r *Request) { r.Environment = []string{strings.Repeat("a", MaxName+1)} }), FullCeiling(), ErrInvalid},
		{"negative time", changed(func(r *Request) { r.Limits.WallClock = -1 }), FullCeiling(), ErrInvalid},
		{"zero ceiling", base(), Ceiling{}, ErrZeroCeiling},
		{"cwd outside", changed(func(r *Request) { r.Cwd = "/etc" }), FullCeiling(), ErrCwd},
		{"cwd beside", changed(func(r *Request) { r.Cwd = "/w-other" }), FullCeiling(), ErrCwd},
		{"cwd denied", changed(func(r *Request) { r.Cwd = "/w/.git/hooks/x" }), FullCeiling(), ErrCwd},
		{"integration below full access", changed(func(r *Request) { r.Class = ClassIntegration }), FullCeiling(), ErrIntegration},
		{"integration in plan mode", changed(func(r *Request) { r.Class, r.Policy = ClassIntegration, DangerFullAccess }), ModeCeiling(true), ErrIntegration},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Intersect(tt.req, tt.ceiling)
			if !errors.Is(err, tt.err) || !got.IsZero() {
				t.Errorf("Intersect = %+v, %v; want %v", got, err, tt.err)
			}
			if err != nil && err.Error() == "" {
				t.Error("no words")
			}
		})
	}
	if _, err := CeilingFrom(Request{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("CeilingFrom of nothing: %v", err)
	}
	if _, err := PolicyCeiling(""); !errors.Is(err, ErrInvalid) {
		t.Errorf("PolicyCeiling: %v", err)
	}
	if _, err := DenyCeiling([]string{"x"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("DenyCeiling: %v", err)
	}
}

func TestZeroEffectiveGivesNothing(t *testing.T) {
	var zero Effective
	if !zero.IsZero() || zero.MayRead("/") || zero.MayWrite("/") || zero.HasEnvironment("PATH") || zero.Equal(mustIntersect(t, base())) {
		t.Error("the zero Effective gives something")
	}
	if diff := cmp.Diff(Snapshot{}, zero.Snapshot()); diff != "" {
		t.Error(diff)
	}
	if _, err := FromSnapshot(zero.Snapshot()); err == nil {
		t.Error("the zero snapshot was restored")
	}
	if _, err := Intersect(base(), zero.Ceiling()); !errors.Is(err, ErrZeroCeiling) {
		t.Errorf("as a ceiling: %v", err)
	}
	if err := zero.Covers(base()); !errors.Is(err, ErrWider) {
		t.Errorf("Covers: %v", err)
	}
}

func mustIntersect(t *testing.T, req Request, ceilings ...Ceiling) Effective {
	t.Helper()
	e, err := Intersect(req, ceilings...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMay(t *testing.T) {
	e := mustIntersect(t, base())
	for path, want := range map[string][2]bool{
		"/w/a":            {true, true},
		"/usr/bin":        {true, false},
		"/w/.git/hooks/x": {false, false},
		"/home/x":         {false, false},
		"/w/../etc":       {false, false},
		"relative":        {false, false},
		"/wx":             {false, false},
	} {
		if got := [2]bool{e.MayRead(path), e.MayWrite(path)}; got != want {
			t.Errorf("%s: read, write = %v, want %v", path, got, want)
		}
	}
	if !e.HasEnvironment("PATH") || e.HasEnvironment("HOME") {
		t.Error("HasEnvironment is wrong")
	}
}
