package main

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"countersign/backend/wire"
)

// page makes the reference page.
func page(m *model) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# The wire, version %d

Made by `+"`go run ./build/wiretypes`"+` from the registered actions; the same as a schema: [wire.schema.json](wire.schema.json).

One JSON object per line on the desk's socket or named pipe, after an exchange of hellos; one per text message on the
WebSocket of `+"`countersign serve --http`"+`, without hellos. A message has less than %d bytes. A request names its action and a
command id, a UUID that the reply repeats; what is "idempotent" may be sent again under the same command id, and is applied
once. An error is a code with the arguments of its sentence. "?" marks what may be left out.

`, wire.Version, wire.MaxMessage)
	b.WriteString("## Messages\n\n")
	for _, t := range envelopes {
		fmt.Fprintf(&b, "- `%s` %s\n", m.names[t], m.object(t))
	}
	b.WriteString("\n## Actions\n")
	for _, a := range m.actions {
		if !a.window {
			m.describe(&b, a)
		}
	}
	b.WriteString("\n## Actions of the window's own program\n\nThey are answered whether a core runs or not, to the window's page alone.\n")
	for _, a := range m.actions {
		if a.window {
			m.describe(&b, a)
		}
	}
	b.WriteString("\n## Frames\n\nThey follow a `subscribe`.\n\n| frame | carries |\n|---|---|\n")
	for _, f := range m.frames {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.name, m.link(f.data))
	}
	b.WriteString("\n## Types\n")
	for _, t := range m.sorted() {
		text := m.object(t)
		if !isObject(t) {
			script, err := m.script(underlying(t))
			if err != nil {
				return nil, err
			}
			text = script
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", m.names[t], text)
	}
	return b.Bytes(), nil
}

// describe writes the section of one action.
func (m *model) describe(b *bytes.Buffer, a action) {
	var traits []string
	switch {
	case a.window:
	case a.capability == "":
		traits = append(traits, "needs no capability")
	default:
		traits = append(traits, "needs `"+a.capability+"`")
	}
	if a.agents {
		traits = append(traits, "open to agents")
	} else if !a.window {
		traits = append(traits, "refused to agents")
	}
	if a.idempotent {
		traits = append(traits, "idempotent")
	} else {
		traits = append(traits, "not idempotent")
	}
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n- in: %s %s\n- out: %s %s\n", a.name, strings.Join(traits, " · "),
		m.link(a.in), m.object(a.in), m.link(a.out), m.object(a.out))
}

// link names a type and leads to its section.
func (m *model) link(t reflect.Type) string {
	name := m.names[t]
	return "[" + name + "](#" + strings.ToLower(name) + ")"
}

// object lists a type's fields in one line.
func (m *model) object(t reflect.Type) string {
	if !isObject(t) {
		return ""
	}
	var list []string
	for _, f := range fieldsOf(t) {
		text, err := m.member(f)
		if err != nil {
			text = f.name
		}
		list = append(list, strings.TrimSuffix(strings.TrimSpace(text), ";"))
	}
	if len(list) == 0 {
		return "`{}`"
	}
	return "`{ " + strings.Join(list, "; ") + " }`"
}
