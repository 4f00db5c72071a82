package classify

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReason is the longest reason that is passed on, in bytes.
const maxReason = 512

// answer is what the model said.
type answer struct {
	safe   bool
	reason string
}

// parseAnswer reads the whole answer of the model: one JSON object with the boolean "safe" and the string "reason", each
// once, and nothing else around or in it. Anything else is an error and never safe.
func parseAnswer(text string) (answer, error) {
	text = strings.Trim(text, " \t\r\n")
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) {
		return answer{}, errors.New("the answer is not one JSON text")
	}
	d := json.NewDecoder(strings.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return answer{}, errors.New("the answer is no JSON object")
	}
	var a answer
	var hasSafe, hasReason bool
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return answer{}, err
		}
		value, err := d.Token()
		if err != nil {
			return answer{}, err
		}
		switch name {
		case "safe":
			safe, ok := value.(bool)
			if !ok || hasSafe {
				return answer{}, errors.New(`"safe" is no boolean, or stands twice`)
			}
			a.safe, hasSafe = safe, true
		case "reason":
			reason, ok := value.(string)
			if !ok || hasReason {
				return answer{}, errors.New(`"reason" is no string, or stands twice`)
			}
			a.reason, hasReason = shortReason(reason), true
		default:
			return answer{}, errors.New(`the answer holds more than "safe" and "reason"`)
		}
	}
	if !hasSafe || !hasReason {
		return answer{}, fmt.Errorf(`"safe" or "reason" is missing`)
	}
	return a, nil
}

// shortReason makes a foreign text fit for one line: without characters that do not show, at most maxReason bytes, cut
// between characters.
func shortReason(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsSpace(r) && r != ' ' {
			r = ' '
		}
		if !visible(r) || r == utf8.RuneError {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > maxReason {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
