package policy

import (
	"fmt"
	"strings"
)

// Modes lists every permission mode, in the order screens show them.
var modes = [...]Mode{ModeAsk, ModeAcceptEdits, ModePlan, ModeAuto, ModeBypass}

// Modes returns every permission mode, in the order screens show them.
func Modes() []Mode { return append([]Mode(nil), modes[:]...) }

// ParseMode reads a mode in any letter case. Anything else is ErrInvalidMode and must change nothing.
func ParseMode(text string) (Mode, error) {
	for _, m := range modes {
		if strings.EqualFold(text, string(m)) {
			return m, nil
		}
	}
	return "", fmt.Errorf("%q: %w", text, ErrInvalidMode)
}

// String returns the canonical spelling.
func (m Mode) String() string { return string(m) }

// effective is the mode Decide works with: what is not a mode is the strictest one that still lets a person answer.
func (m Mode) effective() Mode {
	if known, err := ParseMode(string(m)); err == nil {
		return known
	}
	return ModeAsk
}
