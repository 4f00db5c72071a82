package policy

import "strings"

// Gap says why nothing covers a part of a command text.
type Gap struct {
	Rule  string // what is not covered beside its words: "sets NAME", "writes PATH" …; "" nothing
	Inner string // the command that it runs and that no rule allows; "" it is the part itself
	Read  string // why it is not a safe read
}

// Gaps returns why nothing covers the parts of a text that are new, by the text of the part (TagParts).
func Gaps(f *Facts, in Input) map[string]Gap {
	if f == nil || !IsCommandTool(f.tool) {
		return nil
	}
	in.Facts = f
	d := &decision{in: in, f: f, mode: in.Session.Mode.effective()}
	d.allow = d.allowView()
	out := map[string]Gap{}
	for i, c := range f.commands {
		if c.denyOnly || c.parent >= 0 || c.opaque != "" {
			continue
		}
		covers := d.coveredCommand(i).and(d.coveredWrites(c))
		if covers.ok {
			continue
		}
		gap := Gap{Read: c.unsafe}
		text := c.describe()
		if missing, ok := strings.CutPrefix(covers.why, "no rule for "); !ok {
			gap.Rule = covers.why
		} else if !strings.HasPrefix(text, strings.TrimSuffix(missing, "…")) {
			gap.Inner = missing
		}
		out[text] = gap
	}
	return out
}
