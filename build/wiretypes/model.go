package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"countersign/app/bridge"
	"countersign/backend/capability"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// action is one action as it is described: of the core, or of the window's own program.
type action struct {
	name       string
	capability string // "" for none
	agents     bool
	idempotent bool
	window     bool // answered by the window's program, not by the core
	in, out    reflect.Type
}

// frame is one frame with what it carries.
type frame struct {
	name string
	data reflect.Type
}

// model is everything that is described.
type model struct {
	actions []action
	frames  []frame
	names   map[reflect.Type]string // every named type, by the name it has in what is made here
	asked   map[reflect.Type]bool   // what is part of some action's input
}

// Types with a meaning of their own in JSON.
var (
	timeType     = reflect.TypeFor[time.Time]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	questionType = reflect.TypeFor[wire.Question]()
	cardType     = reflect.TypeFor[desk.Card]()
	textType     = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType     = reflect.TypeFor[json.Marshaler]()
)

// envelopes are what everything travels in.
var envelopes = []reflect.Type{
	reflect.TypeFor[wire.Request](), reflect.TypeFor[wire.Reply](), reflect.TypeFor[wire.Frame](), reflect.TypeFor[wire.Error](),
}

// renamed are names that mean something else where the types are used.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[wire.Error]():        "ErrorData",     // Error is a class of JavaScript
	reflect.TypeFor[capability.Record](): "ReceiptRecord", // Record is a type of TypeScript
}

// registered describes what the desk and the window's program registered.
func registered() (*model, error) {
	m := &model{names: map[reflect.Type]string{}, asked: map[reflect.Type]bool{}}
	for _, a := range desk.Registered() {
		m.actions = append(m.actions, action{
			name: a.Name, capability: string(a.Capability), agents: a.Agents, idempotent: a.Idempotent, in: a.In, out: a.Out,
		})
	}
	for name, types := range bridge.Actions() {
		m.actions = append(m.actions, action{name: name, idempotent: true, window: true, in: types[0], out: types[1]})
	}
	sort.Slice(m.actions, func(i, j int) bool { return m.actions[i].name < m.actions[j].name })
	for name, data := range desk.FrameTypes() {
		m.frames = append(m.frames, frame{name, data})
	}
	sort.Slice(m.frames, func(i, j int) bool { return m.frames[i].name < m.frames[j].name })

	found := map[reflect.Type]bool{}
	for _, t := range append(slices.Clone(envelopes), cardType) {
		collect(t, found)
	}
	for _, a := range m.actions {
		collect(a.in, m.asked)
		collect(a.in, found)
		collect(a.out, found)
	}
	for _, f := range m.frames {
		collect(f.data, found)
	}
	return m, m.name(found)
}

// collect adds every named type that t needs.
func collect(t reflect.Type, found map[reflect.Type]bool) {
	if t == timeType || t == rawType || found[t] {
		return
	}
	if t.Name() != "" && t.PkgPath() != "" {
		found[t] = true
	}
	if t.Implements(textType) || t.Implements(jsonType) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collect(t.Elem(), found)
	case reflect.Struct:
		for _, f := range fieldsOf(t) {
			collect(f.typ, found)
		}
	}
}

// first are the packages whose types keep their own names, in this order, where another package has the same.
var first = []string{"wire", "policy", "desk"}

// name gives every type one name: its own, or where another type comes first, with its package before it.
func (m *model) name(found map[reflect.Type]bool) error {
	packages := map[string][]string{} // that have a type of the name
	for t := range found {
		packages[t.Name()] = append(packages[t.Name()], path.Base(t.PkgPath()))
	}
	taken := map[string]reflect.Type{}
	for t := range found {
		name, pkg := t.Name(), path.Base(t.PkgPath())
		if own := packages[name]; len(own) > 1 {
			owner := slices.IndexFunc(first, func(p string) bool { return slices.Contains(own, p) })
			if owner < 0 || first[owner] != pkg {
				name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
			}
		}
		if other, ok := renamed[t]; ok {
			name = other
		}
		if taken[name] != nil {
			return fmt.Errorf("%v and %v would both be called %s", taken[name], t, name)
		}
		taken[name], m.names[t] = t, name
	}
	return nil
}

// sorted returns every named type, by name.
func (m *model) sorted() []reflect.Type {
	list := make([]reflect.Type, 0, len(m.names))
	for t := range m.names {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return m.names[list[i]] < m.names[list[j]] })
	return list
}

// field is one field of an object as encoding/json writes it.
type field struct {
	name     string
	typ      reflect.Type
	optional bool // left out when it is empty
}

// fieldsOf lists the fields of a struct in their order, those of embedded structs in the place of the embedded one.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-":
			continue
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			list = append(list, fieldsOf(f.Type)...)
			continue
		case !f.IsExported():
			continue
		case tag == "":
			tag = f.Name
		}
		words := strings.Split(options, ",")
		typ := f.Type
		if t == questionType && typ == rawType && tag == "detail" {
			typ = cardType // the only reader of a question's detail is who shows the card
		}
		list = append(list, field{tag, typ, slices.Contains(words, "omitempty") || slices.Contains(words, "omitzero")})
	}
	return list
}
