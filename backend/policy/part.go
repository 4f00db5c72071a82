package policy

// Part is one simple command of a text, as a card shows it.
type Part struct {
	Text  string   `json:"text"`
	Words []string `json:"words"`
	State string   `json:"state"` // "covered", "new" or "opaque"
}

// The states of a part.
const (
	PartCovered = "covered" // by an allow rule or as a safe read
	PartNew     = "new"
	PartOpaque  = "opaque"
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
		part := Part{Text: c.describe(), Words: c.texts(), State: PartNew}
		switch {
		case c.opaque != "" || len(f.opaque) > 0 && c.raw:
			part.State = PartOpaque
		case d.coveredCommand(i).ok && d.coveredWrites(c):
			part.State = PartCovered
		}
		if part.Words == nil {
			part.Words = []string{}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && len(f.opaque) > 0 {
		parts = []Part{{Text: f.text, Words: []string{}, State: PartOpaque}}
	}
	return parts
}

// coveredWrites reports whether every redirection of the command that writes is covered.
func (d *decision) coveredWrites(c *command) bool {
	for _, i := range c.accesses {
		if a := &d.f.accesses[i]; a.redirect && a.write && !d.coveredRedirect(a).ok {
			return false
		}
	}
	return true
}
