package capability

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseTarget(t *testing.T) {
	tests := []struct{ in, want string }{
		{"example.org", "example.org"},
		{"Example.ORG.", "example.org"},
		{"example.org:443", "example.org:443"},
		{"*.example.org", "*.example.org"},
		{"*.a.co.uk:80", "*.a.co.uk:80"},
		{"*.ab.uk", "*.ab.uk"},
		{"localhost", "localhost"},
		{"_srv.example.org", "_srv.example.org"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"127.0.0.1:8080", "127.0.0.1:8080"},
		{"[::1]", "[::1]"},
		{"[0:0:0::1]:443", "[::1]:443"},
		{"[::ffff:127.0.0.1]", "127.0.0.1"},

		{"", ""}, {"*", ""}, {"*.org", ""}, {"*.co.uk", ""}, {"*.com.au", ""}, {"a..b", ""}, {"-a.org", ""}, {"a-.org", ""},
		{"bücher.example", ""}, {"a b", ""}, {"http://a.org", ""}, {"a.org/x", ""}, {"a.org:", ""}, {"a.org:0", ""},
		{"a.org:65536", ""}, {"a.org:+80", ""}, {"a.org:080", ""}, {"a.org:80:90", ""}, {"::1", ""}, {"[::1", ""}, {"[::1]x", ""},
		{"[127.0.0.1]", ""}, {"[fe80::1%eth0]", ""}, {"[x]", ""}, {"127.1", ""}, {"0x7f.0x1", ""}, {"2130706433", ""}, {"a.*.org", ""},
		{"*.127.0.0.1", ""}, {strings.Repeat("a", 64) + ".org", ""}, {strings.Repeat("a.", 127) + "org", ""}, {strings.Repeat("a", 999), ""},
		{"user@a.org", ""}, {".", ""}, {"*.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseTarget(tt.in)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Fatalf("ParseTarget(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
			}
			if err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func checkTarget(t interface{ Fatalf(string, ...any) }, text string) {
	got, err := ParseTarget(text)
	if err != nil {
		return
	}
	if again, err := ParseTarget(got); err != nil || again != got {
		t.Fatalf("ParseTarget(%q) = %q, again %q, %v", text, got, again, err)
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"a.org:443", "*.a.org", "[::1]:1", "127.0.0.1", "*", "a..b", "::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTarget(t, text) })
}

func TestTargetMeet(t *testing.T) {
	tests := []struct{ a, b, want string }{
		{"example.org", "example.org", "example.org"},
		{"*.example.org", "example.org", ""},
		{"*.example.org", "api.example.org", "api.example.org"},
		{"*.example.org", "badexample.org", ""},
		{"*.example.org", "*.api.example.org", "*.api.example.org"},
		{"*.example.org", "*.example.org", "*.example.org"},
		{"*.example.org:443", "api.example.org", "api.example.org:443"},
		{"*.example.org", "api.example.org:443", "api.example.org:443"},
		{"example.org:443", "example.org:80", ""},
		{"example.org:443", "example.org:443", "example.org:443"},
		{"*.a.example", "*.b.example", ""},
		{"[::1]", "[::1]:80", "[::1]:80"},
	}
	for _, tt := range tests {
		a, errA := parseTarget(tt.a)
		b, errB := parseTarget(tt.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for _, pair := range [][2]target{{a, b}, {b, a}} {
			got, ok := pair[0].meet(pair[1])
			text := ""
			if ok {
				text = got.String()
			}
			if text != tt.want {
				t.Errorf("%s meets %s in %q, want %q", pair[0], pair[1], text, tt.want)
			}
			if ok && (!pair[0].covers(got) || !pair[1].covers(got)) {
				t.Errorf("%s is wider than %s or %s", got, pair[0], pair[1])
			}
		}
	}
}

// A connection is covered by the intersection exactly when both sides cover it.
func TestReachMeetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) reach {
			r, err := newReach(NetworkProxied, rapid.SliceOfN(genTarget, 0, 4).Draw(t, name))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		a, b := draw("a"), draw("b")
		both := a.meet(b)
		covers := func(r reach, u target) bool {
			for _, t := range r.targets {
				if t.covers(u) {
					return true
				}
			}
			return false
		}
		text := genTarget.Draw(t, "connection")
		if strings.HasPrefix(text, "*") {
			return
		}
		if !strings.ContainsAny(text, "]") && !strings.Contains(text, ":") || strings.HasSuffix(text, "]") {
			text += ":443"
		}
		u, err := parseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		if want := covers(a, u) && covers(b, u); covers(both, u) != want {
			t.Fatalf("%v meets %v in %v: %s covered %v, want %v", a.texts(), b.texts(), both.texts(), u, !want, want)
		}
	})
}
