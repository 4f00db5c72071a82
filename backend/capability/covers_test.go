package capability

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCovers(t *testing.T) {
	parent := mustIntersect(t, base())
	tests := []struct {
		name string
		req  Request
		what string // "" for covered
	}{
		{"itself", base(), ""},
		{"denied roots are inherited", changed(func(r *Request) { r.DeniedRoots = nil }), ""},
		{"limits are inherited", changed(func(r *Request) { r.Limits = Limits{} }), ""},
		{"narrower", changed(func(r *Request) {
			r.Policy, r.ReadRoots, r.WriteRoots, r.MetadataRoots = ReadOnly, []string{"/w/a", "/t"}, nil, []string{"/usr"}
			r.Cwd, r.Network, r.Targets, r.Environment = "/w/a", NetworkOff, nil, nil
			r.Limits.MemoryBytes = 5
		}), ""},
		{"narrower target", changed(func(r *Request) { r.Targets = []string{"api.example.org:443"} }), ""},
		{"policy", changed(func(r *Request) { r.Policy = DangerFullAccess }), "policy"},
		{"write root", changed(func(r *Request) { r.WriteRoots = []string{"/w", "/w2"} }), "write_roots"},
		{"write where only read", changed(func(r *Request) { r.WriteRoots = []string{"/usr/local"} }), "write_roots"},
		{"read root", changed(func(r *Request) { r.ReadRoots = []string{"/etc"} }), "read_roots"},
		{"metadata root", changed(func(r *Request) { r.MetadataRoots = []string{"/"} }), "metadata_roots"},
		{"denied root", changed(func(r *Request) { r.ReadRoots, r.WriteRoots = []string{"/w/.git/hooks/x"}, nil }), "read_roots"},
		{"open network", changed(func(r *Request) { r.Network = NetworkOpen }), "network"},
		{"target", changed(func(r *Request) { r.Targets = []string{"x.net"} }), "targets"},
		{"all ports", changed(func(r *Request) { r.Targets = []string{"api.example.org"} }), "targets"},
		{"environment", changed(func(r *Request) { r.Environment = []string{"HOME"} }), "environment"},
		{"time", changed(func(r *Request) { r.Limits.WallClock = 1 << 40 }), "limits.wall_clock"},
		{"memory", changed(func(r *Request) { r.Limits.MemoryBytes = 11 }), "limits.memory_bytes"},
		{"cwd", changed(func(r *Request) { r.Cwd = "/etc" }), "cwd"},
		{"denied cwd", changed(func(r *Request) { r.Cwd = "/w/.git/hooks" }), "cwd"},
		{"integration", changed(func(r *Request) { r.Class = ClassIntegration }), "class"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := parent.Covers(tt.req)
			if tt.what == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var wider *WiderError
			if !errors.As(err, &wider) || !errors.Is(err, ErrWider) || wider.What != tt.what || !strings.Contains(err.Error(), tt.what) {
				t.Errorf("Covers = %v, want %s", err, tt.what)
			}
		})
	}
	quiet := mustIntersect(t, changed(func(r *Request) { r.Shell, r.Network = false, NetworkOff }))
	for what, req := range map[string]Request{
		"shell":   changed(func(r *Request) { r.Network = NetworkOff }),
		"network": changed(func(r *Request) { r.Shell = false }),
	} {
		var wider *WiderError
		if err := quiet.Covers(req); !errors.As(err, &wider) || wider.What != what {
			t.Errorf("Covers = %v, want %s", err, what)
		}
	}
	for _, req := range []Request{
		changed(func(r *Request) { r.Class = "x" }),
		changed(func(r *Request) { r.Cwd = "x" }),
		changed(func(r *Request) { r.ReadRoots = []string{"x"} }),
	} {
		if err := parent.Covers(req); !errors.Is(err, ErrInvalid) {
			t.Errorf("malformed request: %v", err)
		}
	}
}

func TestWholeFilesystemIsNamed(t *testing.T) {
	all := rootSet{all: true}
	if root, ok := (rootSet{roots: []string{"/"}}).firstOutside(all); !ok || root == "" {
		t.Errorf("firstOutside = %q, %v", root, ok)
	}
	if _, ok := all.firstOutside(all); ok {
		t.Error("all lies outside all")
	}
	if got := all.join(rootSet{}); !got.all {
		t.Error("join loses all")
	}
	if !(nameSet{all: true}).meet(nameSet{all: true}).all {
		t.Error("meet loses all")
	}
	if got := (nameSet{names: []string{"a"}}).meet(nameSet{all: true}); len(got.names) != 1 {
		t.Errorf("meet = %v", got)
	}
	if got := (bounds{reach: reach{open: true}}).widerReach(reach{open: true}); got != nil {
		t.Error(got)
	}
}

// Covered means: the intersection with the parent takes nothing away but what is inherited.
func TestCoveredRequestsAreNotNarrowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent, err := Intersect(atRoot(genRequest.Draw(t, "parent")))
		if err != nil {
			return
		}
		req := atRoot(genRequest.Draw(t, "child"))
		if rapid.Bool().Draw(t, "derived") {
			// A narrowed copy of the parent is covered more often than a random request.
			req = parent.Snapshot().Request
			if n := len(req.ReadRoots); n > 0 && rapid.Bool().Draw(t, "fewer") {
				req.WriteRoots, req.ReadRoots, req.MetadataRoots = nil, req.ReadRoots[:1], nil
				req.Cwd = req.ReadRoots[0]
			}
		}
		covered := parent.Covers(req)
		child, err := Intersect(req, parent.Ceiling())
		if covered != nil {
			return
		}
		alone, errAlone := Intersect(req)
		if errAlone != nil {
			return
		}
		if err != nil {
			t.Fatalf("covered and refused: %v", err)
		}
		a, b := alone.Snapshot(), child.Snapshot()
		b.DeniedRoots, b.Limits = a.DeniedRoots, a.Limits
		if Digest(a) != Digest(b) {
			t.Fatalf("covered and narrowed:\n%+v\n%+v", a, b)
		}
	})
}
