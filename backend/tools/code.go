package tools

import (
	"errors"

	"countersign/backend/winlock"
)

// codes gives each sentinel the word that screens and the wire use.
var codes = []struct {
	err  error
	code string
}{
	{ErrArguments, "invalid_arguments"},
	{ErrNoMatch, "edit_no_match"},
	{ErrAmbiguous, "edit_ambiguous"},
	{ErrNoChange, "edit_no_change"},
	{ErrTooLarge, "result_too_large"},
	{ErrOtherFile, "other_file"},
}

// Code returns the word by which screens name the error of a tool, and "" for nil.
func Code(err error) string {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return winlock.Code(err)
}
