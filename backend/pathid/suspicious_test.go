package pathid

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSuspicious(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{".", ""},
		{"..", ""},
		{"a/b.txt", ""},
		{"/home/me/.env", ""},
		{`C:\Users\me\a.txt`, ""},
		{"C:/Users/me", ""},
		{"C:", ""},
		{"../x", ""},
		{"[...slug].tsx", ""},
		{"a...b", ""},
		{"console", ""},
		{"com", ""},
		{"COM10", ""},
		{"lpt", ""},
		{"nullable.go", ""},
		{"~/notes.md", ""},
		{"file~", ""},
		{"notes~1.markdown", ""}, // the extension is too long for a short name
		{"longername~1", ""},
		{"Ünïcode ok", ""},

		{"a\x00", SuspiciousControl},
		{"a\nb", SuspiciousControl},
		{"a\x7f", SuspiciousControl},
		{"a\u0085b", SuspiciousControl},
		{"a\u202eb", SuspiciousControl},
		{"a\u2066b", SuspiciousControl},
		{"a\u200bb", SuspiciousControl},
		{".g\u200cit/config", SuspiciousControl},
		{"a\u2028", SuspiciousControl},
		{"\ufeffa", SuspiciousControl},
		{`\\?\C:\x`, SuspiciousDevicePrefix},
		{`\\.\pipe\x`, SuspiciousDevicePrefix},
		{`//?/C:/x`, SuspiciousDevicePrefix},
		{`//./x`, SuspiciousDevicePrefix},
		{`\/.\x`, SuspiciousDevicePrefix},
		{`\??\C:\x`, SuspiciousDevicePrefix},
		{`\\?`, SuspiciousDevicePrefix},
		{`\\srv\share`, SuspiciousUNC},
		{`//srv/share`, SuspiciousUNC},
		{`\\`, SuspiciousUNC},
		{"a.txt:stream", SuspiciousADS},
		{".env::$DATA", SuspiciousADS},
		{"a/.git:x/config", SuspiciousADS},
		{"C:x", SuspiciousADS},
		{`C:\a:b`, SuspiciousADS},
		{"...", SuspiciousDots},
		{"a/..../b", SuspiciousDots},
		{".env.", SuspiciousTrailingDot},
		{`.git.\config`, SuspiciousTrailingDot},
		{"a. .", SuspiciousTrailingDot},
		{".env ", SuspiciousTrailingSpace},
		{".ssh /id", SuspiciousTrailingSpace},
		{".. /x", SuspiciousTrailingSpace},
		{"CON", SuspiciousReservedName},
		{"nul.txt", SuspiciousReservedName},
		{"a/AUX.c", SuspiciousReservedName},
		{"com1.tar.gz", SuspiciousReservedName},
		{"Lpt9", SuspiciousReservedName},
		{"COM0", SuspiciousReservedName},
		{"com³.x", SuspiciousReservedName},
		{"prn .txt", SuspiciousReservedName},
		{"conin$", SuspiciousReservedName},
		{"clock$", SuspiciousReservedName},
		{"PROGRA~1", SuspiciousShortName},
		{"a/GIT~1/config", SuspiciousShortName},
		{"SETTIN~1.JSO", SuspiciousShortName},
		{"a~12", SuspiciousShortName},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			if got := Suspicious(tt.in); got != tt.want {
				t.Errorf("Suspicious(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// A suspicious component stays suspicious wherever it stands, with either slash.
func checkSuspicious(t interface{ Fatalf(string, ...any) }, name string) {
	why := Suspicious(name)
	if why == "" {
		if strings.ContainsAny(name, "\x00\n") || prefixKind(name) != prefixNone {
			t.Fatalf("Suspicious(%q) found nothing", name)
		}
		return
	}
	if prefixKind(name) != prefixNone || hasDrive(name) {
		return
	}
	for _, deeper := range []string{"dir/" + name, `dir\` + name, "/r/" + name + "/x", `C:\r\` + name} {
		if Suspicious(deeper) == "" {
			t.Fatalf("Suspicious(%q) = %q, but nothing for %q", name, why, deeper)
		}
	}
}

func TestSuspiciousProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSuspicious(t, pathText.Draw(t, "path")) })
}

// What Windows would read otherwise than written is refused by Abs or reported by Suspicious.
func TestWindowsFormsAreNeverSilent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := pathText.Draw(t, "path")
		abs, err := Abs(Windows, `C:\base`, name)
		if err != nil || Suspicious(abs) != "" {
			return
		}
		parts, _ := Components(Windows, abs)
		for _, part := range parts[1:] {
			if strings.TrimRight(part, ". ") != part || strings.Contains(part, ":") || isReservedName(part) {
				t.Fatalf("%q (from %q) is silent", abs, name)
			}
		}
	})
}

func FuzzSuspicious(f *testing.F) {
	for _, seed := range []string{"a", "a:b", "...", "x.", "y ", "NUL", "A~1", `\\?\x`, "//x", "a\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) { checkSuspicious(t, name) })
}
