package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"countersign/backend/wire"
)

// schema makes one JSON Schema with a definition for every type, and with the actions and frames by name.
func schema(m *model) ([]byte, error) {
	whole := &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		Title:       "Countersign wire",
		Description: fmt.Sprintf("The messages of wire version %d. Made by build/wiretypes from the registered types.", wire.Version),
		Ref:         m.reference(reflect.TypeFor[wire.Request]()),
		Defs:        map[string]*jsonschema.Schema{},
	}
	for _, t := range m.sorted() {
		s, err := m.definition(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.names[t], err)
		}
		whole.Defs[m.names[t]] = s
	}
	actions, frames := map[string]any{}, map[string]any{}
	for _, a := range m.actions {
		actions[a.name] = map[string]any{
			"args": map[string]string{"$ref": m.reference(a.in)}, "result": map[string]string{"$ref": m.reference(a.out)},
			"idempotent": a.idempotent, "open_to_agents": a.agents, "capability": a.capability, "window_only": a.window,
		}
	}
	for _, f := range m.frames {
		frames[f.name] = map[string]string{"$ref": m.reference(f.data)}
	}
	whole.Extra = map[string]any{"x-actions": actions, "x-frames": frames}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func (m *model) reference(t reflect.Type) string { return "#/$defs/" + m.names[t] }

// definition is the schema of one type, in which every other named type is a reference.
func (m *model) definition(t reflect.Type) (*jsonschema.Schema, error) {
	if !isObject(t) {
		return jsonschema.ForType(underlying(t), nil)
	}
	known := map[reflect.Type]*jsonschema.Schema{rawType: {}}
	for other := range m.names {
		if other != t && !embeds(t, other) {
			known[other] = &jsonschema.Schema{Ref: m.reference(other)}
		}
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	if t == questionType {
		s.Properties["detail"] = &jsonschema.Schema{Ref: m.reference(cardType)}
	}
	if !m.asked[t] {
		s.AdditionalProperties = nil // a client ignores what it does not know; only the core refuses it
	}
	for name, p := range s.Properties {
		s.Properties[name] = settle(p, slices.Contains(s.Required, name))
	}
	return s, nil
}

// settle mends what the library makes of a pointer or a list: beside a reference "null" is a type of its own, and what is
// left out when empty is never null.
func settle(p *jsonschema.Schema, required bool) *jsonschema.Schema {
	switch {
	case p.Ref != "" && len(p.Types) > 0 && required:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "null"}, {Ref: p.Ref}}}
	case p.Ref != "" && len(p.Types) > 0:
		return &jsonschema.Schema{Ref: p.Ref}
	case len(p.Types) == 2 && p.Types[0] == "null" && !required:
		p.Type, p.Types = p.Types[1], nil
	}
	return p
}

// embeds reports whether the fields of other stand among those of t.
func embeds(t, other reflect.Type) bool {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && (f.Type == other || f.Type.Kind() == reflect.Struct && embeds(f.Type, other)) {
			return true
		}
	}
	return false
}
