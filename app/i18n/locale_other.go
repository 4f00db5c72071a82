//go:build !windows

package i18n

// systemLocale reads the locale from the environment. An app that macOS starts from the Finder has none there: then it is
// English until the owner chooses.
func systemLocale(env func(string) string) string { return localeFrom(env) }
