package pathid

import (
	"fmt"
	"runtime"
)

// Platform says whose path rules judge a path. The zero Platform is unknown; it is treated like Linux, whose comparison
// is exact.
type Platform string

// The platforms.
const (
	Linux   Platform = "linux"
	MacOS   Platform = "macos"
	Windows Platform = "windows"
)

// Host returns the platform this program runs on. Other POSIX systems are judged as Linux.
func Host() Platform { return hostOf(runtime.GOOS) }

func hostOf(goos string) Platform {
	switch goos {
	case "darwin", "ios":
		return MacOS
	case "windows":
		return Windows
	}
	return Linux
}

// ParsePlatform reads a platform's name. "any" is not a platform: the caller decides what it stands for.
func ParsePlatform(text string) (Platform, error) {
	switch p := Platform(text); p {
	case Linux, MacOS, Windows:
		return p, nil
	}
	return "", fmt.Errorf("unknown platform %q (want linux, macos or windows)", text)
}

// String returns the platform's name.
func (p Platform) String() string { return string(p) }

// FoldsCase reports whether the platform's usual filesystem ignores case.
func (p Platform) FoldsCase() bool { return p == MacOS || p == Windows }

// IsWindows reports whether the platform uses Windows' path forms.
func (p Platform) IsWindows() bool { return p == Windows }

// platformOf guesses the platform of an absolute path by its form, for functions that are not told: a drive means
// Windows, everything else is the host's (or Linux on a Windows host).
func platformOf(name string) Platform {
	if hasDrive(name) && len(name) > 2 && isSlash(name[2]) {
		return Windows
	}
	if h := Host(); !h.IsWindows() {
		return h
	}
	return Linux
}
