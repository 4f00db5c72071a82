package tools

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// arguments are the members of one JSON object. Every argument that is read is taken out; what is left is unknown.
type arguments map[string]json.RawMessage

// parseArguments reads exactly one JSON object, in which no name occurs twice.
func parseArguments(raw []byte) (arguments, error) {
	whole := func(problem string) error { return &ArgumentError{Problem: problem} }
	if err := checkText(raw); err != nil {
		return nil, whole(err.Error())
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, whole("not a JSON object")
	}
	args := arguments{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, whole("not valid JSON")
		}
		name, ok := token.(string)
		if !ok {
			return nil, whole("not valid JSON")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, whole("not valid JSON")
		}
		if _, twice := args[name]; twice {
			return nil, &ArgumentError{name, "is given twice"}
		}
		args[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, whole("not valid JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, whole("text after the JSON object")
	}
	return args, nil
}

// finish refuses arguments that nobody asked for.
func (a arguments) finish() error {
	least := ""
	for name := range a {
		if least == "" || name < least {
			least = name
		}
	}
	if len(a) > 0 {
		return &ArgumentError{least, "is not an argument of this tool"}
	}
	return nil
}

// value takes one argument out and decodes it into v. A null is no value.
func (a arguments) value(name, want string, v any) (given bool, err error) {
	raw, ok := a[name]
	if !ok {
		return false, nil
	}
	delete(a, name)
	if string(raw) == "null" || json.Unmarshal(raw, v) != nil {
		return true, &ArgumentError{name, "is not " + want}
	}
	return true, nil
}

// text takes a required string.
func (a arguments) text(name string) (string, error) {
	var v string
	given, err := a.value(name, "a string", &v)
	if err == nil && !given {
		err = &ArgumentError{name, "is missing"}
	}
	return v, err
}

// path takes the required path, which agents call path or file_path.
func (a arguments) path() (string, error) {
	var path, filePath string
	hasPath, err := a.value("path", "a string", &path)
	if err != nil {
		return "", err
	}
	hasFilePath, err := a.value("file_path", "a string", &filePath)
	if err != nil {
		return "", err
	}
	name := "path"
	switch {
	case hasPath && hasFilePath:
		return "", &ArgumentError{"file_path", "is given beside path"}
	case hasFilePath:
		name, path = "file_path", filePath
	case !hasPath:
		return "", &ArgumentError{"path", "is missing"}
	}
	if strings.TrimSpace(path) == "" {
		return "", &ArgumentError{name, "is empty"}
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "", &ArgumentError{name, "contains a NUL character"}
	}
	return path, nil
}

// count takes an optional whole number from 1.
func (a arguments) count(name string) (n int, given bool, err error) {
	given, err = a.value(name, "a whole number", &n)
	if err == nil && given && n < 1 {
		err = &ArgumentError{name, "is less than 1"}
	}
	return n, given, err
}

// flag takes an optional true or false; not given is false.
func (a arguments) flag(name string) (bool, error) {
	var v bool
	_, err := a.value(name, "true or false", &v)
	return v, err
}

// checkText refuses what the JSON decoder would replace without a word.
func checkText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("not valid UTF-8")
	}
	for i := 0; i < len(raw); i++ {
		skip := bytes.IndexByte(raw[i:], '\\')
		if skip < 0 {
			return nil
		}
		i += skip + 1 // at the character after the backslash
		unit, ok := escapedUnit(raw, i)
		if !ok {
			continue
		}
		i += 4
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := rune(0), false
		if i+2 < len(raw) && raw[i+1] == '\\' {
			low, ok = escapedUnit(raw, i+2)
		}
		if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
			return errors.New("half of a surrogate pair")
		}
		i += 6
	}
	return nil
}

// escapedUnit reads the UTF-16 unit of an escape whose "u" stands at i.
func escapedUnit(raw []byte, i int) (rune, bool) {
	if i+5 > len(raw) || raw[i] != 'u' {
		return 0, false
	}
	var b [2]byte
	if _, err := hex.Decode(b[:], raw[i+1:i+5]); err != nil {
		return 0, false
	}
	return rune(b[0])<<8 | rune(b[1]), true
}
