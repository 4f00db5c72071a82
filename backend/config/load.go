package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// maxFile bounds config.toml.
const maxFile = 1 << 20

// ErrUnsafe is a file that cannot be trusted: not ours, writable by others, or not a regular file.
var ErrUnsafe = errors.New("the configuration is not safe")

// Error is what is wrong in config.toml, and where.
type Error struct {
	Path    string
	Line    int    // from 1; 0: not known
	Key     string // "" when it is not about a key
	Nearest string // the known key that was probably meant, for one that is not known
	Problem string
}

// Error returns "path:line: key: problem".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, ": %s", e.Key)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	return b.String()
}

// Hint says how to mend it.
func (e *Error) Hint() string {
	if e.Nearest != "" {
		return fmt.Sprintf("Did you mean %s? docs/configuration.md lists every key.", e.Nearest)
	}
	return "docs/configuration.md lists every key with its values."
}

// Load reads config.toml at path. A file that is missing is the default configuration. Errors are *Error, ErrUnsafe,
// or of the file system; then nothing may be started with a guess.
func Load(path string) (Config, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, data)
}

// read returns the file's bytes after it was checked through the open file.
func read(path string) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: it is not a regular file", ErrUnsafe)}
	}
	if err := checkFile(info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &Error{Path: path, Problem: fmt.Sprintf("it is longer than %d bytes", maxFile)}
	}
	return data, nil
}

// Parse reads the text of a configuration; path is for errors.
func Parse(path string, data []byte) (_ Config, err error) {
	if !utf8.Valid(data) {
		return Config{}, &Error{Path: path, Problem: "it is not UTF-8 text"}
	}
	c := Default()
	d := toml.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Config{}, decodeError(path, err)
	}
	for _, k := range keysOf(reflect.ValueOf(c)) {
		if k.table {
			continue
		}
		if p := k.problem(); p != "" {
			return Config{}, &Error{Path: path, Line: lineOf(data, k.name), Key: k.name, Problem: p}
		}
	}
	if p := gatesProblem(c.Gates); p != "" {
		return Config{}, &Error{Path: path, Line: lineOf(data, "gate.name"), Key: "gate", Problem: p}
	}
	if key, p := classifierProblem(c.Classifier); p != "" {
		return Config{}, &Error{Path: path, Line: lineOf(data, "classifier.kind"), Key: key, Problem: p}
	}
	if p := c.Identity.PassphraseFile; p != "" && !filepath.IsAbs(p) {
		const name = "identity.passphrase_file"
		return Config{}, &Error{Path: path, Line: lineOf(data, name), Key: name, Problem: fmt.Sprintf("%q is not an absolute path", p)}
	}
	return c, nil
}

// decodeError says where the decoder stopped, and for an unknown key which one was meant.
func decodeError(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := &strict.Errors[0]
		line, _ := first.Position()
		e := &Error{Path: path, Line: line, Key: strings.Join(first.Key(), "."), Problem: "there is no such key"}
		var known []string
		for _, k := range keysOf(reflect.ValueOf(Default())) {
			known = append(known, k.name)
		}
		e.Nearest = nearest(e.Key, known)
		if e.Nearest != "" {
			e.Problem = fmt.Sprintf("there is no such key; the nearest is %s", e.Nearest)
		}
		return e
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return &Error{Path: path, Line: line, Key: strings.Join(decode.Key(), "."), Problem: strings.TrimPrefix(decode.Error(), "toml: ")}
	}
	return &Error{Path: path, Problem: err.Error()}
}

// lineOf finds the line that sets a key, written in its table or with dots. It returns 0 when it is written otherwise.
func lineOf(data []byte, name string) int {
	table := ""
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.TrimSpace(strings.Trim(line, "[]")) + "."
			continue
		}
		if word, _, ok := strings.Cut(line, "="); ok && table+strings.TrimSpace(word) == name {
			return i + 1
		}
	}
	return 0
}
