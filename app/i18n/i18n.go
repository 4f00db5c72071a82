// Package i18n holds the words of the desk's screens: one catalogue per language, shared by this program and the window's
// page, which imports the same files.
//
// A text is found by its key and takes named arguments in braces. Commands, paths and rules are arguments and are never
// translated; who puts untrusted text into an argument has escaped it. A key that is missing shows itself, so that it is
// seen; a test keeps the catalogues alike.
package i18n

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// The languages there are, and what stands for the one of the system.
const (
	English           = "en"
	SimplifiedChinese = "zh-CN"
	System            = "system"
)

// Languages lists the languages there are.
var Languages = []string{English, SimplifiedChinese}

//go:embed en.json
var english []byte

//go:embed zh-CN.json
var simplifiedChinese []byte

// catalogues are read once. They are part of the program: one that cannot be read is a fault that the tests find, and
// its keys then show themselves.
var catalogues = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for language, data := range map[string][]byte{English: english, SimplifiedChinese: simplifiedChinese} {
		catalogue := map[string]string{}
		if err := json.Unmarshal(data, &catalogue); err != nil {
			catalogue = map[string]string{}
		}
		all[language] = catalogue
	}
	return all
})

// T returns the text of a key in a language, with its arguments put in. A language that is not there reads as English.
func T(language, key string, args map[string]string) string {
	text, ok := catalogues()[language][key]
	if !ok {
		text, ok = catalogues()[English][key]
	}
	if !ok {
		return key
	}
	return fill(text, args)
}

// fill puts arguments into a text, in one pass: what an argument holds is never read as a place for another.
func fill(text string, args map[string]string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := args[name]
		if !closed || !known {
			b.WriteByte('{')
			text = rest
			continue
		}
		b.WriteString(value)
		text = after
	}
}

// Language returns the language to speak: the preferred one, or the system's when that is what the owner prefers.
func Language(preferred string, env func(string) string) string {
	for _, language := range Languages {
		if preferred == language {
			return language
		}
	}
	return fromLocale(systemLocale(env))
}

// localeVariables name the locale of messages, the strongest first (setlocale(3), gettext's LANGUAGE before all).
var localeVariables = []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"}

// localeFrom reads the locale from an environment, "" where it says nothing.
func localeFrom(env func(string) string) string {
	for _, name := range localeVariables {
		first, _, _ := strings.Cut(env(name), ":")
		if first != "" {
			return first
		}
	}
	return ""
}

// fromLocale turns a locale ("zh_CN.UTF-8", "zh-Hans", "de_DE@euro") into a language there is. Traditional Chinese reads
// as English rather than in characters of the other script.
func fromLocale(locale string) string {
	name := strings.ToLower(strings.ReplaceAll(locale, "_", "-"))
	if i := strings.IndexAny(name, ".@"); i >= 0 {
		name = name[:i]
	}
	switch {
	case strings.HasPrefix(name, "zh-hant"), name == "zh-tw", name == "zh-hk", name == "zh-mo":
		return English
	case name == "zh", strings.HasPrefix(name, "zh-"):
		return SimplifiedChinese
	}
	return English
}
