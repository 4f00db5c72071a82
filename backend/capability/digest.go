package capability

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Digest returns "sha256:" and the lower-case hex digest of v's canonical JSON. It is empty when v has no canonical form
// (see Canonical); an empty digest equals nothing, and whoever compares digests must refuse it.
func Digest(v any) string {
	data, err := Canonical(v)
	if err != nil {
		return ""
	}
	return DigestBytes(data)
}

// DigestBytes returns "sha256:" and the lower-case hex digest of data.
func DigestBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

const digestPrefix = "sha256:"

// IsDigest reports whether text has the form that Digest returns.
func IsDigest(text string) bool {
	sum, ok := strings.CutPrefix(text, digestPrefix)
	return ok && len(sum) == 2*sha256.Size && strings.Trim(sum, "0123456789abcdef") == ""
}

// Canonical returns v as JSON in the manner of RFC 8785: keys sorted by UTF-16 units, no insignificant space, the
// shortest escapes. One thing differs: a number keeps the text it was given in, so that no two numbers become one by
// rounding. What two readers could understand differently has no canonical form and is an error: a name that occurs
// twice in an object, a lone surrogate, invalid UTF-8.
func Canonical(v any) ([]byte, error) {
	if err := checkText(reflect.ValueOf(v), 0); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	if err := CheckJSONText(raw); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out bytes.Buffer
	if err := canonicalValue(&out, d); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("canonical form: text after the value")
	}
	return out.Bytes(), nil
}

func canonicalValue(out *bytes.Buffer, d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return canonicalArray(out, d)
		}
		return canonicalObject(out, d)
	case string:
		canonicalString(out, t)
	case json.Number:
		out.WriteString(t.String())
	case bool:
		fmt.Fprint(out, t)
	case nil:
		out.WriteString("null")
	}
	return nil
}

func canonicalArray(out *bytes.Buffer, d *json.Decoder) error {
	out.WriteByte('[')
	for n := 0; d.More(); n++ {
		if n > 0 {
			out.WriteByte(',')
		}
		if err := canonicalValue(out, d); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := d.Token()
	return err
}

func canonicalObject(out *bytes.Buffer, d *json.Decoder) error {
	members := map[string][]byte{}
	var names []string
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok {
			return errors.New("name is not a string")
		}
		if _, twice := members[name]; twice {
			return fmt.Errorf("name %q occurs twice", name)
		}
		var value bytes.Buffer
		if err := canonicalValue(&value, d); err != nil {
			return err
		}
		members[name] = value.Bytes()
		names = append(names, name)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		canonicalString(out, name)
		out.WriteByte(':')
		out.Write(members[name])
	}
	out.WriteByte('}')
	return nil
}

func canonicalString(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	for _, r := range text {
		switch r {
		case '"', '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case '\b':
			out.WriteString(`\b`)
		case '\t':
			out.WriteString(`\t`)
		case '\n':
			out.WriteString(`\n`)
		case '\f':
			out.WriteString(`\f`)
		case '\r':
			out.WriteString(`\r`)
		default:
			if r < ' ' {
				fmt.Fprintf(out, `\u%04x`, r)
			} else {
				out.WriteRune(r)
			}
		}
	}
	out.WriteByte('"')
}

// checkText refuses strings in v that are not valid UTF-8: json.Marshal would replace the bytes without a word, and two
// different values would have one digest. Types with their own JSON form answer for themselves.
func checkText(v reflect.Value, depth int) error {
	if !v.IsValid() || depth > 100 {
		return nil // json.Marshal has its own limit and its own error
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return errors.New("canonical form: not valid UTF-8")
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkText(v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := checkText(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := errors.Join(checkText(it.Key(), depth+1), checkText(it.Value(), depth+1)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if err := checkText(v.Field(i), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
