package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Reference returns the text of docs/configuration.md, made from the type.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Made from the Go type (backend/config). Do not edit: a test compares the two. -->

The core reads ` + "`config.toml`" + ` when it starts. A file that is missing means the defaults. A key that is not known is an
error that names its line, and the known key that was probably meant. The file must be a regular file of your account that nobody else
may write.

| where | path |
|---|---|
| with ` + "`COUNTERSIGN_HOME=DIR`" + ` | ` + "`DIR/config/config.toml`" + ` |
| Linux | ` + "`$XDG_CONFIG_HOME/countersign/config.toml`" + `, or ` + "`~/.config/countersign/config.toml`" + ` |
| macOS | ` + "`~/Library/Application Support/Countersign/config.toml`" + ` |
| Windows | ` + "`%APPDATA%\\Countersign\\config.toml`" + ` |
`)
	for _, k := range keysOf(reflect.ValueOf(Default())) {
		if k.table {
			form := "[%s]"
			if k.array {
				form = "[[%s]]"
			}
			fmt.Fprintf(&b, "\n## "+form+"\n\n%s\n", k.name, k.doc)
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", k.name, k.doc)
		switch {
		case k.values != nil:
			fmt.Fprintf(&b, "- values: `%s`\n", strings.ReplaceAll(quoted(k.values), ", ", "`, `"))
		case k.max != 0:
			fmt.Fprintf(&b, "- values: an integer from %d to %d\n", k.min, k.max)
		default:
			fmt.Fprintf(&b, "- values: %s\n", kindName(k.value))
		}
		fmt.Fprintf(&b, "- default: `%s`\n", written(k.value))
	}
	return b.String()
}

func kindName(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		return "`true`, `false`"
	case reflect.Slice:
		return "a list of strings"
	default:
		return "a string"
	}
}

// written returns a default as it would stand in the file.
func written(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Slice:
		return "[]"
	default:
		return fmt.Sprint(v.Interface())
	}
}
