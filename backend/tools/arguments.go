package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"countersign/backend/capability"
)

// arguments are the members of one JSON object. Every argument that is read is taken out; what is left is unknown.
type arguments map[string]json.RawMessage

// parseArguments reads exactly one JSON object, in which no name occurs twice.
func parseArguments(raw []byte) (arguments, error) {
	whole := func(problem string) error { return &ArgumentError{Problem: problem} }
	if err := capability.CheckJSONText(raw); err != nil {
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
