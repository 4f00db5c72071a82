package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines joins events; the texts are what `go test -json` of Go 1.26 prints.
func lines(events ...string) string { return strings.Join(events, "\n") + "\n" }

func TestSummary(t *testing.T) {
	tests := []struct {
		name    string
		in      string
		mayNone bool
		ok      bool
		want    []string // must be in the output, in this order
		not     string
	}{
		{
			name: "passes and skips are counted by case, not by parent",
			in: lines(
				`{"Action":"start","Package":"m/a"}`,
				`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"run","Package":"m/a","Test":"TestOne/x"}`,
				`{"Action":"run","Package":"m/a","Test":"TestOne/y"}`,
				`{"Action":"output","Package":"m/a","Test":"TestOne/y","Output":"=== RUN   TestOne/y\n"}`,
				`{"Action":"output","Package":"m/a","Test":"TestOne/y","Output":"    a_test.go:7: no user namespaces\n"}`,
				`{"Action":"output","Package":"m/a","Test":"TestOne/y","Output":"    --- SKIP: TestOne/y (0.00s)\n"}`,
				`{"Action":"pass","Package":"m/a","Test":"TestOne/x"}`,
				`{"Action":"skip","Package":"m/a","Test":"TestOne/y"}`,
				`{"Action":"pass","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"output","Package":"m/a","Output":"coverage: 91.2% of statements\n"}`,
				`{"Action":"pass","Package":"m/a","Elapsed":1.25}`),
			ok:   true,
			want: []string{"ok    m/a  1.2s  1 passed, 1 skipped, 91.2% covered", "m/a TestOne/y: no user namespaces", "label: 1 passed, 0 failed, 1 skipped\n"},
		},
		{
			name: "a failure is shown with its output and counted once",
			in: lines(
				`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"run","Package":"m/a","Test":"TestOne/x"}`,
				`{"Action":"output","Package":"m/a","Test":"TestOne/x","Output":"    a_test.go:9: got 1, want 2\n"}`,
				`{"Action":"fail","Package":"m/a","Test":"TestOne/x"}`,
				`{"Action":"fail","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"fail","Package":"m/a"}`),
			want: []string{"--- FAIL m/a TestOne/x", "a_test.go:9: got 1, want 2", "failed packages: m/a", "label: 0 passed, 1 failed, 0 skipped"},
		},
		{
			name: "a package that does not build fails with the compiler's words",
			in: lines(
				`{"ImportPath":"m/b","Action":"build-output","Output":"b.go:3:1: undefined: x\n"}`,
				`{"ImportPath":"m/b","Action":"build-fail"}`,
				`{"Action":"start","Package":"m/b"}`,
				`{"Action":"output","Package":"m/b","Output":"FAIL\tm/b [build failed]\n"}`,
				`{"Action":"fail","Package":"m/b","FailedBuild":"m/b"}`),
			want: []string{"--- m/b does not build", "undefined: x", "1 failed"},
		},
		{
			name: "output that breaks off is a failure",
			in: lines(
				`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"output","Package":"m/a","Test":"TestOne","Output":"half\n"}`),
			want: []string{"--- FAIL m/a TestOne", "half", "broke off", "0 passed, 1 failed"},
		},
		{
			name: "a package that fails without a failing test counts",
			in: lines(
				`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"pass","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"output","Package":"m/a","Output":"goleak: Errors on successful test run\n"}`,
				`{"Action":"fail","Package":"m/a"}`),
			want: []string{"goleak", "1 passed, 1 failed"},
		},
		{
			name: "packages without tests are silent",
			in: lines(
				`{"Action":"start","Package":"m/c"}`,
				`{"Action":"output","Package":"m/c","Output":"?   \tm/c\t[no test files]\n"}`,
				`{"Action":"skip","Package":"m/c"}`,
				`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"pass","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"pass","Package":"m/a"}`),
			ok:  true,
			not: "m/c",
		},
		{
			name: "a slow test is named",
			in: lines(`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"pass","Package":"m/a","Test":"TestOne","Elapsed":61.4}`, `{"Action":"pass","Package":"m/a"}`),
			ok:   true,
			want: []string{"slow:\n  m/a TestOne: 61 s\n"},
		},
		{name: "no test at all is no success", in: "", want: []string{"0 passed, 0 failed, 0 skipped"}},
		{
			name: "only skips is no success",
			in: lines(`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"skip","Package":"m/a","Test":"TestOne"}`, `{"Action":"pass","Package":"m/a"}`),
			want: []string{"TestOne: no reason given"},
		},
		{
			name: "unless that is allowed",
			in: lines(`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"skip","Package":"m/a","Test":"TestOne"}`, `{"Action":"pass","Package":"m/a"}`),
			mayNone: true,
			ok:      true,
		},
		{name: "nothing is not allowed even then", in: "", mayNone: true},
		{
			name: "plain lines pass through",
			in: lines("warning: something else", `{"Action":"run","Package":"m/a","Test":"TestOne"}`,
				`{"Action":"pass","Package":"m/a","Test":"TestOne"}`, `{"Action":"pass","Package":"m/a"}`),
			ok:   true,
			want: []string{"warning: something else\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			ok, _ := run(strings.NewReader(tt.in), &out, "label", tt.mayNone, "", nil)
			if ok != tt.ok {
				t.Errorf("ok = %v, want %v\n%s", ok, tt.ok, out.String())
			}
			rest := out.String()
			for _, w := range tt.want {
				_, after, found := strings.Cut(rest, w)
				if !found {
					t.Fatalf("%q is missing or out of order in\n%s", w, out.String())
				}
				rest = after
			}
			if tt.not != "" && strings.Contains(out.String(), tt.not) {
				t.Errorf("%q stands in\n%s", tt.not, out.String())
			}
		})
	}
}

func TestGates(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	text := "mode: atomic\n" +
		"m/a/x.go:1.1,2.2 9 0\nm/a/x.go:1.1,2.2 9 4\nm/a/y.go:1.1,2.2 1 0\n" + // 90 %
		"m/b/x.go:1.1,2.2 10 1\n" // 100 %
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	passing := lines(`{"Action":"run","Package":"m/a","Test":"TestOne"}`,
		`{"Action":"pass","Package":"m/a","Test":"TestOne"}`, `{"Action":"pass","Package":"m/a"}`)
	tests := []struct {
		name string
		gate string
		ok   bool
	}{
		{"over", "m/b=90", true},
		{"exactly is not over", "m/a=90", false},
		{"over a lower one", "m/a=89.9", true},
		{"a package nobody measured", "m/c=1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var g gates
			if err := g.Set(tt.gate); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			ok, err := run(strings.NewReader(passing), &out, "label", false, profile, g)
			if err != nil || ok != tt.ok {
				t.Errorf("ok = %v, %v; want %v\n%s", ok, err, tt.ok, out.String())
			}
		})
	}
	for _, bad := range []string{"", "m/a", "=90", "m/a=x", "m/a=100", "m/a=-1"} {
		if err := new(gates).Set(bad); err == nil {
			t.Errorf("gate %q was taken", bad)
		}
	}
	for _, bad := range []string{"nonsense", "m/a/x.go:1.1,2.2 x 1", "m/a/x.go:1.1,2.2 1"} {
		if _, err := parseProfile(strings.NewReader(bad)); err == nil {
			t.Errorf("profile %q was taken", bad)
		}
	}
}
