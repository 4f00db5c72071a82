package pathid

import (
	"testing"

	"pgregory.net/rapid"
)

func TestContains(t *testing.T) {
	tests := []struct {
		name     string
		p        Platform
		root, in string
		want     bool
	}{
		{"itself", Linux, "/w/p", "/w/p", true},
		{"below", Linux, "/w/p", "/w/p/a/b", true},
		{"prefix is not containment", Linux, "/w/project", "/w/project-other", false},
		{"above", Linux, "/w/p", "/w", false},
		{"root", Linux, "/", "/a", true},
		{"root in root", Linux, "/", "/", true},
		{"case matters", Linux, "/w", "/W/a", false},
		{"normal form matters on linux", Linux, "/é", "/e\u0301/a", false},
		{"not clean", Linux, "/w", "/w/../etc", false},
		{"relative name", Linux, "/w", "w/a", false},
		{"relative root", Linux, "w", "/w/a", false},
		{"empty", Linux, "", "", false},
		{"nul", Linux, "/w", "/w/\x00", false},
		{"macos folds", MacOS, "/Users/Me", "/users/me/A", true},
		{"macos composes", MacOS, "/é", "/e\u0301/a", true},
		{"macos full fold", MacOS, "/h/.ssh", "/h/.ßh/authorized_keys", true},
		{"macos long s", MacOS, "/h/.ssh", "/h/.ſſh", true},
		{"hfs ignorable", MacOS, "/r/.git", "/r/.g\u200cit/config", true},
		{"windows folds", Windows, `C:\Work`, `c:/wORK/x`, true},
		{"windows drive", Windows, `C:\Work`, `D:\Work\x`, false},
		{"windows trailing dot", Windows, `C:\w\.git`, `C:\w\.git.\config`, true},
		{"windows trailing space", Windows, `C:\w\.env`, `C:\w\.env `, true},
		{"windows prefix", Windows, `C:\w`, `C:\w2`, false},
		{"windows drive root", Windows, `C:\`, `C:\a`, true},
		{"windows unc", Windows, `C:\`, `\\srv\a`, false},
		{"windows non-ascii", Windows, `C:\ÄÖ`, `C:\äö\x`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Contains(tt.p, tt.root, tt.in); got != tt.want {
				t.Errorf("Contains(%s, %q, %q) = %v", tt.p, tt.root, tt.in, got)
			}
		})
	}
}

func TestKeyKeepsDamagedNamesApart(t *testing.T) {
	for _, p := range []Platform{Linux, MacOS, Windows} {
		if Key(p, "/a\xff") == Key(p, "/a\xfe") || Key(p, "/\xffß") == Key(p, "/\xfeß") {
			t.Errorf("%s: two names with different invalid bytes have one key", p)
		}
	}
}

func checkContains(t interface{ Fatalf(string, ...any) }, p Platform, name string) {
	key := Key(p, name)
	if again := Key(p, key); again != key {
		t.Fatalf("Key(%s, %q) = %q, again %q", p, name, key, again)
	}
	abs, err := Abs(p, baseOf(p), name)
	if err != nil {
		return
	}
	sibling := abs + "-other"
	if p == Linux && abs != "/" && Contains(p, abs, sibling) {
		t.Fatalf("%q contains %q", abs, sibling)
	}
	if below := Join(p, abs, "below"); !Contains(p, abs, below) || Contains(p, below, abs) {
		t.Fatalf("%q and %q are not below each other as they should be", abs, below)
	}
}

func TestContainsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := platforms.Draw(t, "platform")
		checkContains(t, p, pathText.Draw(t, "path"))
		a, errA := Abs(p, baseOf(p), pathText.Draw(t, "a"))
		b, errB := Abs(p, baseOf(p), pathText.Draw(t, "b"))
		c, errC := Abs(p, baseOf(p), pathText.Draw(t, "c"))
		if errA != nil || errB != nil || errC != nil {
			return
		}
		if Contains(p, a, b) && Contains(p, b, c) && !Contains(p, a, c) {
			t.Fatalf("not transitive: %q %q %q", a, b, c)
		}
		if Contains(p, a, b) && Contains(p, b, a) && Key(p, a) != Key(p, b) {
			t.Fatalf("%q and %q contain each other with different keys", a, b)
		}
		if Key(p, a) == Key(p, b) && p != Linux && !Contains(p, a, b) {
			t.Fatalf("%q and %q have one key and are not the same", a, b)
		}
	})
}

func FuzzContains(f *testing.F) {
	for _, seed := range []string{"a", "/A/b", "ß", "e\u0301", `C:\x.`, "x ", "\xff", "İ", "ﬁ", "\u0345", "K"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, p := range []Platform{Linux, MacOS, Windows} {
			checkContains(t, p, name)
		}
	})
}
