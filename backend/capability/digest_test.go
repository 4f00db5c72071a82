package capability

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type invalidMarshaler struct{}

func (invalidMarshaler) MarshalJSON() ([]byte, error) { return []byte("\"\xff\""), nil }

func TestCanonical(t *testing.T) {
	tests := []struct {
		name string
		in   any
		want string // "" for an error
	}{
		{"sorted", json.RawMessage(`{ "b" : 1, "a" : [ true, null , "x" ] }`), `{"a":[true,null,"x"],"b":1}`},
		{"nested", map[string]any{"z": map[string]int{"b": 1, "a": 2}, "y": []int{}}, `{"y":[],"z":{"a":2,"b":1}}`},
		{"shortest escapes", "\"\\\b\t\n\f\r\x01<>&\u2028é/", `"\"\\\b\t\n\f\r\u0001<>&` + "\u2028" + `é/"`},
		{"escapes decoded", json.RawMessage(`"\u00e9\u0041\ud83d\ude00\/"`), `"éA😀/"`},
		{"utf-16 order", json.RawMessage(`{"\ufb33":1,"\ud83d\ude00":2,"\r":3}`), `{"\r":3,"😀":2,"` + "\ufb33" + `":1}`},
		{"numbers keep their text", json.RawMessage(`[9007199254740993,9007199254740992,1.0,1e2]`), `[9007199254740993,9007199254740992,1.0,1e2]`},
		{"time", time.Unix(0, 0).UTC(), `"1970-01-01T00:00:00Z"`},
		{"nil", nil, `null`},
		{"pointer", new(int), `0`},
		{"nil pointer", (*int)(nil), `null`},
		{"bytes", []byte{1}, `"AQ=="`},
		{"unexported fields", struct{ a string }{"\xff"}, `{}`},
		{"backslash before u", json.RawMessage(`"\\ud800"`), `"\\ud800"`},

		{"not a number", math.NaN(), ""},
		{"channel", make(chan int), ""},
		{"twice", json.RawMessage(`{"a":1,"a":2}`), ""},
		{"twice, escaped", json.RawMessage(`{"a":1,"\u0061":2}`), ""},
		{"twice, deep", json.RawMessage(`[{"x":{"a":1,"a":2}}]`), ""},
		{"broken", json.RawMessage(`{"a":`), ""},
		{"lone surrogate", json.RawMessage(`"\ud800"`), ""},
		{"lone surrogate before text", json.RawMessage(`"\ud800abcdef"`), ""},
		{"lone low surrogate", json.RawMessage(`"\udc00"`), ""},
		{"two high surrogates", json.RawMessage(`"\ud800\ud800"`), ""},
		{"invalid UTF-8", "\xff", ""},
		{"invalid UTF-8 in a field", Request{Cwd: "/\xff"}, ""},
		{"invalid UTF-8 in a list", []any{[]string{"\xff"}}, ""},
		{"invalid UTF-8 as key", map[string]int{"\xff": 1}, ""},
		{"invalid UTF-8 behind a pointer", &struct{ A *string }{new(string("\xff"))}, ""},
		{"invalid UTF-8 in raw text", json.RawMessage("\"\xff\""), ""},
		{"invalid UTF-8 from a marshaler", invalidMarshaler{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Canonical(tt.in)
			if string(got) != tt.want || (err == nil) != (tt.want != "") {
				t.Fatalf("Canonical = %s, %v; want %s", got, err, tt.want)
			}
			digest := Digest(tt.in)
			if IsDigest(digest) != (tt.want != "") {
				t.Errorf("Digest = %q", digest)
			}
		})
	}
}

// The digest of {} as any other program computes it.
func TestDigestIsSHA256(t *testing.T) {
	const want = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if got := Digest(struct{}{}); got != want {
		t.Errorf("Digest({}) = %s", got)
	}
	for _, bad := range []string{"", "sha256:", want[:len(want)-1], want + "0", strings.ToUpper(want), "md5:" + want[7:], want[:len(want)-1] + "g"} {
		if IsDigest(bad) {
			t.Errorf("IsDigest(%q)", bad)
		}
	}
}

func checkCanonical(t interface{ Fatalf(string, ...any) }, raw []byte) {
	got, err := Canonical(json.RawMessage(raw))
	if err != nil {
		return
	}
	if !json.Valid(got) {
		t.Fatalf("%q becomes %q, which is not JSON", raw, got)
	}
	if again, err := Canonical(json.RawMessage(got)); err != nil || string(again) != string(got) {
		t.Fatalf("%q becomes %q and then %q, %v", raw, got, again, err)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[2.0,"x"]}`, `"\ud83d\ude00"`, `"\ud800"`, `{"a":1,"a":2}`, `[[[]]]`, `1e400`, "\"\xff\"", `"\\ud800"`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkCanonical(t, raw) })
}

func TestCanonicalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "value")
		got, err := Canonical(m)
		if err != nil {
			t.Fatalf("Canonical: %v", err)
		}
		checkCanonical(t, got)
		var back map[string][]string
		if err := json.Unmarshal(got, &back); err != nil || len(back) != len(m) {
			t.Fatalf("%s does not read back: %v", got, err)
		}
	})
}
