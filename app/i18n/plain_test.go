package i18n

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPlain: names and commands of agents stand in the tray and in notifications. What a notification let through could
// hide a part of them, or write over the words around them.
func TestPlain(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":                       {"git push origin main", "git push origin main"},
		"other alphabets":             {"测试 проект नमस्ते", "测试 проект नमस्ते"},
		"letters with marks":          {"e\u0301 a\u0302\u0323", "e\u0301 a\u0302\u0323"},
		"bidirectional and invisible": {"a\u202eb\x1b\u200b\nc\td", `a\u{202e}b\u{1b}\u{200b} c d`},
		"a filler of Hangul":          {"rm\u3164-rf", `rm\u{3164}-rf`},
		"a leading filler":            {"a\u115fb", `a\u{115f}b`},
		"a blank of Braille":          {"a\u2800b", `a\u{2800}b`},
		"a variation selector":        {"a\ufe0fb", `a\u{fe0f}b`},
		"a joiner":                    {"a\u034fb", `a\u{34f}b`},
		"a blank that is none":        {"a\u00a0b\u3000c", `a\u{a0}b\u{3000}c`},
		"stacked marks":               {"a\u0301\u0302\u0303\u0304b", "a\u0301\u0302" + `\u{303}\u{304}b`},
		"a mark without a letter":     {"\u0338 \u0338x", `\u{338} \u{338}x`},
		"a mark on a spelling":        {"\u200b\u0338", `\u{200b}\u{338}`},
		"invalid bytes":               {"a\xffb", `a\xffb`},
		"as long as may be":           {strings.Repeat("a", 40), strings.Repeat("a", 40)},
		"too long":                    {strings.Repeat("a", 41), strings.Repeat("a", 39) + "…"},
		"too long, in spellings":      {strings.Repeat("\u202e", 40), strings.Repeat(`\u{202e}`, 4) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Plain(tt.in, 40)
			if got != tt.want {
				t.Errorf("Plain(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if utf8.RuneCountInString(got) > 40 {
				t.Errorf("%q is too long", got)
			}
		})
	}
}
