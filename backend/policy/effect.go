package policy

// Effect is a call that further rules decide otherwise.
type Effect struct {
	Call          int // index among the calls that were looked at
	Before, After Verdict
}

// Widens reports whether the rules let through what was stopped or asked before.
func (e Effect) Widens() bool { return Wider(e.Before.Outcome, e.After.Outcome) }

// Effects decides calls with their own rules and with further ones, and returns those whose outcome is another, in order.
// A call that waits for a classification counts as asking.
func Effects(calls []Input, added ...SourcedRule) []Effect {
	var out []Effect
	for i, in := range calls {
		if in.Classification == nil {
			in.Classification = &Classification{Err: "no classifier is asked about recorded calls"}
		}
		before := Decide(in)
		in.Rules.Rules = append(append([]SourcedRule(nil), in.Rules.Rules...), added...)
		if after := Decide(in); after.Outcome != before.Outcome {
			out = append(out, Effect{Call: i, Before: before, After: after})
		}
	}
	return out
}

// Wider reports whether an outcome lets more happen than another. An unknown one denies.
func Wider(before, after Outcome) bool { return freedom(after) > freedom(before) }

func freedom(o Outcome) int {
	switch o {
	case Allow:
		return 2
	case Ask, Classify:
		return 1
	}
	return 0
}

// CallText is what a call is about in one text: its command, its first path, its host or the name of its MCP tool.
func CallText(f *Facts) string {
	if f == nil {
		return ""
	}
	for _, list := range [...][]string{{f.text}, f.Writes(), f.Reads(), f.hosts} {
		if len(list) > 0 && list[0] != "" {
			return list[0]
		}
	}
	if len(f.mcp) > 0 {
		return f.mcp[0].server + "/" + f.mcp[0].tool
	}
	return f.subject
}
