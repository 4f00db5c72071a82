package policy

// Part is one simple command of a text, as a card shows it.
type Part struct {
	Text  string   `json:"text"`
	Words []string `json:"words"`
	State string   `json:"state"` // "covered", "new" or "opaque"
	// Start and End are byte offsets: the part is Command[Start:End], with its redirections and without the body of a
	// here-document. Both are 0 for what is no literal stretch of the command, or stands inside another part's. The stretches
	// of a list ascend and do not overlap.
	Start int `json:"start"`
	End   int `json:"end"`
	// Why is for a covered part the allow rule that covers it, in its canonical text, or WhySafeRead or WhyAcceptEdits; for
	// an opaque part what could not be understood; for a new one "".
	Why string `json:"why"`
}

// The states of a part.
const (
	PartCovered = "covered" // by an allow rule or as a safe read
	PartNew     = "new"
	PartOpaque  = "opaque"
)

// Why a part is covered where no rule of anybody's is. A rule's text never looks like these: it is a tool's name, or ends
// in a bracket.
const (
	WhySafeRead    = "safe_read"    // it only reads what may be read, or sets what nobody minds
	WhyAcceptEdits = "accept_edits" // it writes, where the session's mode lets edits pass
)

// Parts returns the simple commands of a command text, without a judgement of rules: a safe read is covered, the rest is
// new.
func (f *Facts) Parts() []Part { return TagParts(f, Input{Facts: f}) }

// TagParts returns the simple commands of the text with what the rules of in say about each.
func TagParts(f *Facts, in Input) []Part {
	if f == nil || !IsCommandTool(f.tool) {
		return nil
	}
	in.Facts = f
	d := &decision{in: in, f: f, mode: in.Session.Mode.effective()}
	d.allow = d.allowView()
	var parts []Part
	for i, c := range f.commands {
		if c.denyOnly || c.parent >= 0 {
			continue
		}
		part := Part{Text: c.describe(), Words: c.texts(), State: PartNew, Start: c.stretch.start, End: c.stretch.end}
		switch {
		case c.opaque != "":
			part.State, part.Why = PartOpaque, c.opaque
		case len(f.opaque) > 0 && c.raw:
			part.State, part.Why = PartOpaque, f.opaque[0]
		default:
			if covers := d.coveredCommand(i).and(d.coveredWrites(c)); covers.ok {
				part.State, part.Why = PartCovered, covers.words()
			}
		}
		if part.Words == nil {
			part.Words = []string{}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && len(f.opaque) > 0 {
		return []Part{{Text: f.text, Words: []string{}, State: PartOpaque, End: len(f.text), Why: f.opaque[0]}}
	}
	placeParts(parts)
	return parts
}

// coveredWrites judges every redirection of the command that writes.
func (d *decision) coveredWrites(c *command) coverage {
	out := coverage{ok: true}
	for _, i := range c.accesses {
		if a := &d.f.accesses[i]; a.redirect && a.write {
			out = out.and(d.coveredRedirect(a))
		}
	}
	return out
}

// words says by what something is covered.
func (c coverage) words() string {
	switch {
	case c.rule != nil:
		return c.rule.Rule.String()
	case c.edits:
		return WhyAcceptEdits
	}
	return WhySafeRead
}
