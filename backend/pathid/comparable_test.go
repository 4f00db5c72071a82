package pathid

import "testing"

// A prefix that Windows takes off before it opens a file used to leave nothing to compare with a rule.
func TestComparable(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{`\\?\C:\secret\a`, `C:\secret\a`},
		{`//?/c:/secret/a`, `C:\secret\a`},
		{`\\.\C:\secret\..\a`, `C:\a`},
		{`\??\C:\secret`, `C:\secret`},
		{`\\?\C:`, `C:\`},
		{`\\?\UNC\localhost\c$\x`, `C:\x`},
		{`\\127.0.0.1\D$\x\y`, `D:\x\y`},
		{`\\127.1.2.3/d$/x`, `D:\x`},
		{`D:x`, `D:\x`},
		{`C:x`, `C:\w\x`},
		{`nul.txt`, `C:\w\nul.txt`},
		{`a\...\b`, `C:\w\a\b`},
		{`\a`, `C:\a`},
		{`\\server\share\x`, ""},
		{`\\?\Volume{1}\x`, ""},
		{`\\.\PhysicalDrive0`, ""},
		{`\\localhost\share\x`, ""},
		{"a\x00b", ""},
		{"", ""},
	} {
		got, ok := Comparable(Windows, `C:\w`, c.name)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Comparable(%q) = %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
	if got, ok := Comparable(Linux, "/w", `\\?\C:\x`); ok {
		t.Errorf("on Linux it is an ordinary name, not %q", got)
	}
	if got, ok := Comparable(Windows, "w", "x"); ok {
		t.Errorf("a relative base gave %q", got)
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{`\\Server\share\a\..\b`, "Server/share/b"},
		{`//server/share`, "server/share"},
		{`\\?\UNC\server\share\x`, "server/share/x"},
		{`\\?\C:\x`, ""}, {`C:\x`, ""}, {`\\`, ""},
	} {
		if got, ok := Share(Windows, c.name); got != c.want || ok != (c.want != "") {
			t.Errorf("Share(%q) = %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
}

func TestWithoutStreams(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{`C:\a\b.txt::$DATA`, `C:\a\b.txt`}, {`C:\a:x\b`, `C:\a\b`}, {`C:\a`, `C:\a`}, {`C:\`, `C:\`},
	} {
		if got := WithoutStreams(Windows, c.path); got != c.want {
			t.Errorf("WithoutStreams(%q) = %q, want %q", c.path, got, c.want)
		}
	}
	if got := WithoutStreams(Linux, "/a:b"); got != "/a:b" {
		t.Errorf("on Linux a colon is part of the name, got %q", got)
	}
}
