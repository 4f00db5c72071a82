package pathid

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAbs(t *testing.T) {
	tests := []struct {
		name     string
		p        Platform
		base, in string
		want     string
		err      error
	}{
		{"relative", Linux, "/w", "a/b", "/w/a/b", nil},
		{"absolute", Linux, "/w", "/a//b/./c/", "/a/b/c", nil},
		{"parent", Linux, "/w/x", "../y", "/w/y", nil},
		{"parent of root", Linux, "/", "../../etc", "/etc", nil},
		{"root", Linux, "/w", "/", "/", nil},
		{"absolute needs no base", Linux, "", "/a", "/a", nil},
		{"base that is not clean", Linux, "/w/../v/", "a", "/v/a", nil},
		{"spaces and newline kept", Linux, "/w", " a\n", "/w/ a\n", nil},
		{"backslash is a letter", Linux, "/w", `a\b`, `/w/a\b`, nil},
		{"drive is a letter on linux", Linux, "/w", `C:\x`, `/w/C:\x`, nil},
		{"two slashes on linux", Linux, "/w", "//srv/x", "/srv/x", nil},
		{"macos", MacOS, "/w", "A", "/w/A", nil},
		{"empty", Linux, "/w", "", "", ErrEmpty},
		{"nul", Linux, "/w", "a\x00b", "", ErrNUL},
		{"nul in base", Linux, "/w\x00", "a", "", ErrNUL},
		{"too long", Linux, "/w", strings.Repeat("a", MaxPath+1), "", ErrTooLong},
		{"relative base", Linux, "w", "a", "", ErrRelative},
		{"no base", Linux, "", "a", "", ErrRelative},

		{"windows drive", Windows, `C:\w`, `D:\a\b`, `D:\a\b`, nil},
		{"windows forward slashes", Windows, `C:\w`, `d:/a/b`, `D:\a\b`, nil},
		{"git bash drive", Windows, `C:\w`, `/d/a`, `D:\a`, nil},
		{"git bash drive alone", Windows, `C:\w`, `/d`, `D:\`, nil},
		{"cygwin drive", Windows, `C:\w`, `/cygdrive/d/a`, `D:\a`, nil},
		{"git bash base", Windows, `/c/w`, `a`, `C:\w\a`, nil},
		{"rooted", Windows, `C:\w`, `\a`, `C:\a`, nil},
		{"rooted with slash", Windows, `C:\w`, `/abc/d`, `C:\abc\d`, nil},
		{"windows relative", Windows, `C:\w`, `a/b\c`, `C:\w\a\b\c`, nil},
		{"windows parent", Windows, `C:\w\x`, `..\..\..\y`, `C:\y`, nil},
		{"drive relative, same drive", Windows, `C:\w`, `c:a`, `C:\w\a`, nil},
		{"drive alone, same drive", Windows, `C:\w`, `C:`, `C:\w`, nil},
		{"drive root", Windows, `C:\w`, `C:\`, `C:\`, nil},
		{"stream kept for Suspicious", Windows, `C:\w`, `a:b`, "", ErrRelative},
		{"longer stream kept", Windows, `C:\w`, `ab:c`, `C:\w\ab:c`, nil},
		{"trailing dot kept for Suspicious", Windows, `C:\w`, `a.`, `C:\w\a.`, nil},
		{"drive relative, other drive", Windows, `C:\w`, `D:a`, "", ErrRelative},
		{"unc", Windows, `C:\w`, `\\srv\share\x`, "", ErrRemote},
		{"unc with slashes", Windows, `C:\w`, `//srv/share/x`, "", ErrRemote},
		{"unc mixed", Windows, `C:\w`, `\/srv/share/x`, "", ErrRemote},
		{"unc base", Windows, `\\srv\w`, `a`, "", ErrRemote},
		{"verbatim", Windows, `C:\w`, `\\?\C:\x`, "", ErrDevice},
		{"verbatim unc", Windows, `C:\w`, `\\?\UNC\srv\x`, "", ErrDevice},
		{"device", Windows, `C:\w`, `\\.\PhysicalDrive0`, "", ErrDevice},
		{"device with slashes", Windows, `C:\w`, `//./pipe/x`, "", ErrDevice},
		{"object namespace", Windows, `C:\w`, `\??\C:\x`, "", ErrDevice},
		{"reserved", Windows, `C:\w`, `NUL`, "", ErrDevice},
		{"reserved with extension", Windows, `C:\w`, `a\con.txt`, "", ErrDevice},
		{"reserved in the middle", Windows, `C:\w`, `aux\x`, "", ErrDevice},
		{"reserved superscript", Windows, `C:\w`, `COM¹`, "", ErrDevice},
		{"dots and spaces", Windows, `C:\w`, `a\.. \b`, "", ErrAmbiguous},
		{"many dots", Windows, `C:\w`, `...`, "", ErrAmbiguous},
		{"windows relative base", Windows, `w`, `a`, "", ErrRelative},
		{"windows drive-relative base", Windows, `C:w`, `a`, "", ErrRelative},
		{"windows posix base", Windows, `/posix`, `a`, "", ErrRelative},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Abs(tt.p, tt.base, tt.in)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Fatalf("Abs(%s, %q, %q) = %q, %v; want %q, %v", tt.p, tt.base, tt.in, got, err, tt.want, tt.err)
			}
			var pe *fs.PathError
			if err != nil && !errors.As(err, &pe) {
				t.Errorf("error %v is not a *fs.PathError", err)
			}
		})
	}
}

func TestParts(t *testing.T) {
	tests := []struct {
		p         Platform
		in        string
		parts     []string
		ok        bool
		dir, base string
	}{
		{Linux, "/", []string{}, true, "/", ""},
		{Linux, "/a", []string{"a"}, true, "/", "a"},
		{Linux, "/a/b", []string{"a", "b"}, true, "/a", "b"},
		{Linux, "a", nil, false, "a", ""},
		{Linux, "/a\x00", nil, false, "/a\x00", ""},
		{Windows, `C:\`, []string{"C:"}, true, `C:\`, ""},
		{Windows, `c:/a/b`, []string{"C:", "a", "b"}, true, `C:\a`, "b"},
		{Windows, `/a`, nil, false, `/a`, ""},
		{Windows, `\\srv\a`, nil, false, `\\srv\a`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.p.String()+" "+tt.in, func(t *testing.T) {
			parts, ok := Components(tt.p, tt.in)
			if diff := cmp.Diff(tt.parts, parts); diff != "" || ok != tt.ok {
				t.Errorf("Components: ok %v\n%s", ok, diff)
			}
			if got := Dir(tt.p, tt.in); got != tt.dir {
				t.Errorf("Dir = %q, want %q", got, tt.dir)
			}
			if got := Base(tt.p, tt.in); got != tt.base {
				t.Errorf("Base = %q, want %q", got, tt.base)
			}
		})
	}
	if got := Join(Linux, "/", "a"); got != "/a" {
		t.Errorf("Join at the root = %q", got)
	}
	if got := Join(Windows, `C:\w`, "a"); got != `C:\w\a` {
		t.Errorf("Join = %q", got)
	}
}

func TestPlatform(t *testing.T) {
	for text, want := range map[string]Platform{"linux": Linux, "macos": MacOS, "windows": Windows} {
		got, err := ParsePlatform(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParsePlatform(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "any", "Linux", "darwin"} {
		if got, err := ParsePlatform(text); err == nil {
			t.Errorf("ParsePlatform(%q) = %q, want an error", text, got)
		}
	}
	for goos, want := range map[string]Platform{"linux": Linux, "freebsd": Linux, "darwin": MacOS, "windows": Windows} {
		if got := hostOf(goos); got != want {
			t.Errorf("hostOf(%q) = %q", goos, got)
		}
	}
	if got := platformOf(`C:\x`); got != Windows {
		t.Errorf("platformOf a drive = %q", got)
	}
	if got := platformOf("/x"); got.IsWindows() {
		t.Errorf("platformOf a POSIX path = %q", got)
	}
}

var platforms = rapid.SampledFrom([]Platform{Linux, MacOS, Windows})

// piece makes the texts that path handling trips over.
var piece = rapid.OneOf(
	rapid.SampledFrom([]string{
		"a", "B", "..", ".", "...", "", " ", "con", "NUL.txt", "x.", "y ", "é", "e\u0301", "ß", "ſ", "K", "C:", "c", "?",
		"\\", "/", ":", "~1", "a~1", "\xff", "\u200d", "\x00", "proc", "self", "ﬁ", "İ", "I", "ı", "\u0345",
	}),
	rapid.String(),
)

var pathText = rapid.Custom(func(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "/", `\`, "//", `\\?\`, `C:\`, "d:/", "/c/", "C:"}).Draw(t, "prefix"))
	for i := range rapid.IntRange(0, 6).Draw(t, "n") {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{"/", `\`, "//"}).Draw(t, "sep"))
		}
		b.WriteString(piece.Draw(t, "piece"))
	}
	return b.String()
})

func baseOf(p Platform) string { return Join(p, rootOf(p), "base") }

func checkAbs(t interface{ Fatalf(string, ...any) }, p Platform, name string) {
	abs, err := Abs(p, baseOf(p), name)
	if err != nil {
		return
	}
	if !IsAbs(p, abs) {
		t.Fatalf("Abs(%s, %q) = %q is not absolute", p, name, abs)
	}
	if again, err := Abs(p, baseOf(p), abs); err != nil || again != abs {
		t.Fatalf("Abs(%s, %q) = %q, again %q, %v", p, name, abs, again, err)
	}
	parts, ok := Components(p, abs)
	if !ok || build(p, parts) != abs {
		t.Fatalf("Components(%q) = %q do not rebuild it", abs, parts)
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			t.Fatalf("Abs(%s, %q) = %q is not clean", p, name, abs)
		}
	}
	if !Contains(p, rootOf(p), abs) && !p.IsWindows() || !Contains(p, abs, abs) || !Contains(p, Dir(p, abs), abs) {
		t.Fatalf("%q does not lie in itself and its directory", abs)
	}
}

func TestAbsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkAbs(t, platforms.Draw(t, "platform"), pathText.Draw(t, "path"))
	})
}

func FuzzAbs(f *testing.F) {
	for _, seed := range []string{"a", "/a/../b", `C:\x`, `\\?\x`, "//srv/x", "/c/x", "c:x", "NUL", "a\x00", ".. ", `\??\x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, p := range []Platform{Linux, MacOS, Windows} {
			checkAbs(t, p, name)
		}
	})
}
