package classify

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Whether a call can be sent when a credential stands in it (details of CodeUnsendable).
const (
	cannotEnd  = "it cannot be seen where a credential in it ends"
	wouldHide  = "masking a credential would hide a program, a host or a path"
	markPrefix = "[masked:"
)

// neverMasked are the fields of a sent call that say what it touches. A credential in one of them keeps the call here.
var neverMasked = map[string]bool{"tool": true, "agent_tool": true, "working_directory": true, "reads": true, "writes": true, "hosts": true, "mode": true}

// piece is a stretch of JSON: bytes that stay, then a string.
type piece struct {
	before []byte // everything up to the string
	raw    []byte // the string as it stands, with its quotes; nil at the end
	text   string // what it says
	masked string // text without credentials
	field  string // the field of the call that it stands in
}

// maskJSON masks the credentials in a call's JSON. Only what strings say changes: every value stays of its kind and in
// its place. The problem says why the call cannot be sent, or "".
func maskJSON(data []byte) (masked, problem string) {
	var m masker
	pieces := m.read(data)
	// A value that was found beside a name may stand elsewhere without it, as where a shell's variable was expanded.
	again := m.everywhere()
	var out bytes.Buffer
	for _, p := range pieces {
		out.Write(p.before)
		if p.raw == nil {
			break
		}
		p.masked = again.Replace(p.masked)
		if p.masked == p.text {
			out.Write(p.raw)
			continue
		}
		if neverMasked[p.field] || p.field == "simple_commands" && maskedProgram.MatchString(p.masked) {
			m.fail(wouldHide)
		}
		raw, err := encode(p.masked)
		if err != nil {
			m.fail(cannotEnd)
		}
		out.Write(raw)
	}
	if m.problem != "" {
		return "", m.problem
	}
	return out.String(), ""
}

// masker goes through one call.
type masker struct {
	found   []string // values that are credentials, for everywhere
	problem string
}

func (m *masker) fail(problem string) {
	if m.problem == "" {
		m.problem = problem
	}
}

// level is one object or array that is being read.
type level struct {
	object bool
	name   string // of an object: the last name
	value  bool   // of an object: a value comes next
	before string // of an array: the last string
}

// read cuts valid JSON at its strings and masks each by itself, with what stands before it: the name of a field, or the
// word before it in a list.
func (m *masker) read(data []byte) []piece {
	var pieces []piece
	var levels []level
	start := 0
	for i := 0; i < len(data); i++ {
		var top *level
		if len(levels) > 0 {
			top = &levels[len(levels)-1]
		}
		switch data[i] {
		case '{', '[':
			levels = append(levels, level{object: data[i] == '{'})
		case '}', ']':
			levels = levels[:len(levels)-1]
		case ':':
			top.value = true
		case ',':
			top.value = false
		case '"':
			end := stringEnd(data, i)
			p := piece{before: data[start:i], raw: data[i:end]}
			if err := json.Unmarshal(p.raw, &p.text); err != nil {
				m.fail(cannotEnd)
			}
			if len(levels) > 0 {
				p.field = levels[0].name
			}
			p.masked = m.value(top, p.text)
			if top != nil {
				if top.object && !top.value {
					top.name = p.text
				}
				top.before = p.text
			}
			pieces = append(pieces, p)
			start, i = end, end-1
		}
	}
	return append(pieces, piece{before: data[start:]})
}

// stringEnd returns the offset behind the string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// value masks one string.
func (m *masker) value(in *level, text string) string {
	switch {
	case in == nil:
	case in.object && in.value && secretName.MatchString(in.name):
		return m.named(text)
	case !in.object && optionName.MatchString(in.before) && optionValue(text):
		return m.named(text)
	}
	return m.text(text)
}

// named masks a string that is the value of a secret name as a whole.
func (m *masker) named(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || reference(trimmed) || shownPath(trimmed) {
		return m.text(text)
	}
	if at := wholeValue.FindStringSubmatchIndex(trimmed); at != nil {
		m.remember(trimmed[at[2]:at[3]])
		return strings.Replace(text, trimmed, trimmed[:at[2]]+mark("credential"), 1)
	}
	if masked := m.text(text); masked != text {
		return masked // a known shape in it
	}
	m.fail(cannotEnd)
	return text
}

// reference reports whether a value only names the place of a credential: $NAME, $(…), ${{…}}, <name>, {{name}}, `…`.
func reference(value string) bool { return strings.ContainsAny(value[:1], "$`<{([") }

func mark(kind string) string { return markPrefix + kind + "]" }

// remember keeps a credential to be looked for everywhere. What could be a word, a host or a path is not kept.
func (m *masker) remember(value string) {
	word := len(value) < 8 || !strings.ContainsAny(value, "0123456789") || strings.ToLower(value) == strings.ToUpper(value)
	if !word && (random(value) || !strings.ContainsAny(value, "./:")) {
		m.found = append(m.found, value)
	}
}

// everywhere replaces what was found, the longest first.
func (m *masker) everywhere() *strings.Replacer {
	slices.SortFunc(m.found, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(m.found))
	for _, value := range m.found {
		pairs = append(pairs, value, mark("credential"))
	}
	return strings.NewReplacer(pairs...)
}

// text masks the credentials that stand in a longer text.
func (m *masker) text(text string) string {
	for _, s := range shapes {
		text = m.replace(text, s.kind, s.form.FindAllStringSubmatchIndex(text, -1))
	}
	if mayHoldName(text) {
		text = m.replace(text, "credential", m.values(text, assigned, always))
		text = m.replace(text, "credential", m.values(text, option, optionValue))
		text = m.replace(text, "credential", m.values(text, beside, random))
		text = m.replace(text, "authorization", m.values(text, header, random))
	}
	if keyBegins.MatchString(text) || loginLeft.MatchString(text) {
		m.fail(cannotEnd)
	}
	return text
}

// mayHoldName reports whether any of names can be in the text: most texts hold none, and looking for one takes long.
func mayHoldName(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{"passw", "passphrase", "secret", "token", "key", "credential", "authorization"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func always(string) bool { return true }

// optionValue: an option of a secret name may also be a switch, behind which the next word is a program. Few of these are
// long.
func optionValue(value string) bool { return len(value) >= 6 && value[0] != '-' }

// values finds values beside names; a match's last two groups are the quote and the value.
func (m *masker) values(text string, form *regexp.Regexp, is func(string) bool) [][]int {
	var out [][]int
	for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
		quote, start, end := "", at[4], at[5]
		if at[2] >= 0 {
			quote = text[at[2]:at[3]]
		} else {
			// The punctuation of a sentence or a list is none of the value.
			end = start + len(strings.TrimRight(text[start:end], ",.:?!"))
		}
		value := text[start:end]
		if value == "" || shownPath(value) || !is(value) {
			continue
		}
		rest := text[end:]
		switch {
		case quote != "" && !strings.HasPrefix(rest, quote):
			m.fail(cannotEnd)
		case rest != "" && strings.ContainsAny(rest[:1], "(["):
			continue // a call: token = os.system("…")
		}
		out = append(out, []int{at[0], end, start, end})
	}
	return out
}

// replace puts a mark in the place of group 1 of each match.
func (m *masker) replace(text, kind string, matches [][]int) string {
	if len(matches) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, at := range matches {
		value := text[at[2]:at[3]]
		m.remember(value)
		if _, password, ok := strings.Cut(value, ":"); ok {
			m.remember(password)
		}
		b.WriteString(text[from:at[2]])
		b.WriteString(mark(kind))
		from = at[3]
	}
	b.WriteString(text[from:])
	return b.String()
}
