package imports

import (
	"slices"
	"strings"

	"countersign/backend/policy"
)

// settle makes the entries of a file hold together, after all were read:
//
//   - an ask for a whole tool that exists only so that later allows are exceptions to it is what happens here anyway
//     where no rule allows, and as a rule it would win over those allows: it is left out (ranked files only);
//   - an allow that there comes after a restriction which is not carried would allow more here: it is left out;
//   - a restriction that there comes after an allow is stronger here, and both entries say so.
func (s *sheet) settle() {
	s.dropShadowed()
	for _, it := range s.items {
		if s.ranked && it.List == policy.ListAsk && it.pattern == "" && len(it.Rules) > 0 {
			s.dropDefault(it)
		}
	}
	s.dropShadowed()
	for _, r := range s.items {
		if !r.restricts() || len(r.Rules) == 0 {
			continue
		}
		for _, a := range s.items {
			if a.List != policy.ListAllow || len(a.Rules) == 0 || !overlap(r, a) {
				continue
			}
			if s.outranks(a, r) {
				r.differs("allowed_there", shorten(a.Text))
				a.differs("no_effect", shorten(r.Text))
			}
		}
	}
}

// outranks reports whether a decides before b there.
func (s *sheet) outranks(a, b *item) bool {
	if s.ranked {
		return a.rank > b.rank
	}
	order := map[policy.List]int{policy.ListDeny: 2, policy.ListAsk: 1}
	return order[a.List] > order[b.List]
}

// dropShadowed leaves out the allows that a restriction narrows there and not here.
func (s *sheet) dropShadowed() {
	for _, r := range s.items {
		if !r.holds {
			continue
		}
		for _, a := range s.items {
			if a.List == policy.ListAllow && len(a.Rules) > 0 && sharesTool(r.held(), a.tools) && s.outranks(r, a) {
				a.refuse("uncarried_before", shorten(r.Text))
			}
		}
	}
}

// dropDefault leaves the rules out of an ask that carried allows of the same tool come before.
func (s *sheet) dropDefault(it *item) {
	var dropped []string
	for _, a := range s.items {
		if a.List == policy.ListAllow && len(a.Rules) > 0 && s.outranks(a, it) && sharesTool(it.tools, a.tools) {
			dropped = append(dropped, a.tools...)
		}
	}
	if len(dropped) == 0 {
		return
	}
	it.Rules = slices.DeleteFunc(it.Rules, func(text string) bool { return slices.Contains(dropped, text) })
	it.differs("ask_default")
	it.unheld, it.tools, it.holds = dropped, it.Rules, true // what is left are names of tools
}

// held are the tools for which a restriction that is not, or not wholly, carried holds there.
func (it *item) held() []string {
	if it.unheld != nil {
		return it.unheld
	}
	return it.tools
}

func sharesTool(a, b []string) bool {
	if slices.Contains(a, every) || slices.Contains(b, every) {
		return true
	}
	return slices.ContainsFunc(a, func(tool string) bool { return slices.Contains(b, tool) })
}

// overlap reports whether two entries clearly concern the same calls. It serves what is said, not what is carried.
func overlap(r, a *item) bool {
	if !sharesTool(r.tools, a.tools) {
		return false
	}
	rp, ap := r.pattern, a.pattern
	return rp == "" || ap == "" || wild(rp, ap) || wild(ap, rp)
}

// wild matches a text with a pattern in which * stands for any text. A last " *" may stand for nothing.
func wild(pattern, text string) bool {
	if cut, ok := strings.CutSuffix(pattern, " *"); ok && text == cut {
		return true
	}
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	if len(parts) == 1 {
		return text == pattern
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
