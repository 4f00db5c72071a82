package i18n

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// placeholder is what fill replaces.
var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// TestCatalogues: a key in one language alone, or a lost argument, is seen only by who reads that language.
func TestCatalogues(t *testing.T) {
	read := func(data []byte) map[string]string {
		texts := map[string]string{}
		if err := json.Unmarshal(data, &texts); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	en, zh := read(english), read(simplifiedChinese)
	for _, key := range slices.Sorted(maps.Keys(en)) {
		other, ok := zh[key]
		if !ok {
			t.Errorf("%s is not in zh-CN.json", key)
			continue
		}
		if a, b := places(en[key]), places(other); !slices.Equal(a, b) {
			t.Errorf("%s has the places %v in en.json and %v in zh-CN.json", key, a, b)
		}
		if strings.TrimSpace(en[key]) == "" || strings.TrimSpace(other) == "" {
			t.Errorf("%s has no text", key)
		}
	}
	for key := range zh {
		if _, ok := en[key]; !ok {
			t.Errorf("%s is not in en.json", key)
		}
	}
}

func places(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestSorted: two people add keys at once, and an order makes that a small difference.
func TestSorted(t *testing.T) {
	key := regexp.MustCompile(`(?m)^\s*"([^"]+)":`)
	for name, data := range map[string][]byte{"en.json": english, "zh-CN.json": simplifiedChinese} {
		var keys []string
		for _, m := range key.FindAllSubmatch(data, -1) {
			keys = append(keys, string(m[1]))
		}
		if !slices.IsSorted(keys) {
			t.Errorf("%s is not sorted by key", name)
		}
		if len(slices.Compact(slices.Clone(keys))) != len(keys) {
			t.Errorf("%s has a key twice", name)
		}
	}
}

func TestFill(t *testing.T) {
	tests := []struct {
		name, text string
		args       map[string]string
		want       string
	}{
		{"no places", "Open", nil, "Open"},
		{"one", "{n} waiting", map[string]string{"n": "2"}, "2 waiting"},
		{"twice", "{a} and {a}", map[string]string{"a": "x"}, "x and x"},
		{"an argument is not a place", "{a} {b}", map[string]string{"a": "{b}", "b": "x"}, "{b} x"},
		{"unknown places stay", "{a} {b}", map[string]string{"b": "x"}, "{a} x"},
		{"an open brace stays", "a { b", nil, "a { b"},
		{"an open brace before a place", "{ {a}", map[string]string{"a": "x"}, "{ x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fill(tt.text, tt.args); got != tt.want {
				t.Errorf("fill(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	tests := []struct {
		name, preferred string
		env             map[string]string
		want            string
	}{
		{"chosen", SimplifiedChinese, map[string]string{"LANG": "de_DE.UTF-8"}, SimplifiedChinese},
		{"system", System, map[string]string{"LANG": "zh_CN.UTF-8"}, SimplifiedChinese},
		{"unknown choice is the system", "tlh", map[string]string{"LC_ALL": "zh_CN"}, SimplifiedChinese},
		{"first of several", "", map[string]string{"LANGUAGE": "zh_CN:en", "LANG": "en_US"}, SimplifiedChinese},
		{"script", "", map[string]string{"LANG": "zh-Hans"}, SimplifiedChinese},
		{"the other script", "", map[string]string{"LANG": "zh_TW.UTF-8"}, English},
		{"LC_ALL before LANG", "", map[string]string{"LC_ALL": "C", "LANG": "zh_CN"}, English},
		{"not there", "", map[string]string{"LANG": "fr_FR"}, English},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Language(tt.preferred, func(name string) string { return tt.env[name] }); got != tt.want {
				t.Errorf("Language = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMissingKeyShowsItself(t *testing.T) {
	if got := T(English, "no.such.key", nil); got != "no.such.key" {
		t.Errorf("T = %q", got)
	}
}
