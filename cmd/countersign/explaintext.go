package main

import (
	"fmt"
	"io"
	"strings"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

// explained is an answer with what it was made of.
type explained struct {
	in         policy.Input
	verdict    policy.Verdict
	classified bool // auto mode would ask a classifier here
	trace      bool // every step is to be shown

	given     int                  // rules of the command line
	config    string               // the configuration file, "" where it was left out
	files     wire.PermissionRules // what stands in files
	managed   string               // the administrator's file, "" where it was left out
	project   string               // whose repository's file was looked for
	elsewhere bool                 // judged for another system
	locked    policy.Mode          // the mode that was asked for and that the administrator does not allow
}

// print says the answer and its reason first, then what it is about, and last how it came to be.
func (e *explained) print(w io.Writer) {
	f, v := e.in.Facts, e.verdict
	fmt.Fprintf(w, "%s: %s\n", strings.ToUpper(string(v.Outcome)), escape(e.headline(), false))
	if e.classified {
		fmt.Fprintln(w, "In auto mode a classifier would be asked here. It is not asked now, and without its answer the desk asks.")
	}
	if v.Ceiling != "" {
		fmt.Fprintln(w, "It would run where nothing can be written, without the network and without secrets.")
	}
	e.printParts(w)
	printPaths(w, "It would read:", f.Reads())
	printPaths(w, "It would write:", f.Writes())
	fmt.Fprintf(w, "\n%s\n", escape(riskSentence(f), false))
	e.printSteps(w)
	e.printRules(w)
	e.printSources(w)
}

// headline says why, in a sentence. Of a text with several commands it says how many are the reason to ask.
func (e *explained) headline() string {
	f, v := e.in.Facts, e.verdict
	parts := policy.TagParts(f, e.in)
	if v.Reason != policy.ReasonApprovalRequired || len(parts) == 0 {
		return reasonSentence(v)
	}
	if why := f.Opaque(); why != "" {
		return "what it does cannot be told from its text (" + why + "), so no rule covers it."
	}
	left := 0
	for _, p := range parts {
		if p.State != policy.PartCovered {
			left++
		}
	}
	switch {
	case left == 0:
		return reasonSentence(v)
	case len(parts) == 1:
		return partWhy(parts[0], policy.Gaps(f, e.in)[parts[0].Text]) + "."
	}
	verb := "are"
	switch left {
	case 1:
		verb = "is"
	case len(parts):
		return fmt.Sprintf("none of the %d commands in it is covered by a rule or as a safe read.", left)
	}
	return fmt.Sprintf("%d of the %d commands in it %s covered neither by a rule nor as a safe read.", left, len(parts), verb)
}

// printParts says of each part of a command why it is covered or not.
func (e *explained) printParts(w io.Writer) {
	if why := e.in.Facts.Opaque(); why != "" && !strings.Contains(e.headline(), why) {
		fmt.Fprintf(w, "\nWhat it does cannot be told from its text: %s.\n", escape(why, false))
	}
	parts := policy.TagParts(e.in.Facts, e.in)
	if len(parts) == 0 {
		return
	}
	count := fmt.Sprintf("%d commands", len(parts))
	if len(parts) == 1 {
		count = "one command"
	}
	fmt.Fprintf(w, "\nIt consists of %s:\n", count)
	gaps := policy.Gaps(e.in.Facts, e.in)
	width := 0
	for _, p := range parts {
		if n := len([]rune(escape(p.Text, false))); n <= 40 {
			width = max(width, n)
		}
	}
	for _, p := range parts {
		why := escape(partWhy(p, gaps[p.Text]), false)
		text := escape(p.Text, false)
		if len([]rune(text)) > 40 {
			fmt.Fprintf(w, "  %-7s  %s\n           %s\n", p.State, text, why)
			continue
		}
		fmt.Fprintf(w, "  %-7s  %s%s  %s\n", p.State, text, strings.Repeat(" ", width-len([]rune(text))), why)
	}
}

// partWhy says why a part is covered, or what is missing.
func partWhy(p policy.Part, gap policy.Gap) string {
	switch {
	case p.State == policy.PartOpaque:
		return p.Why
	case p.Why == policy.WhySafeRead:
		return "only reads what may be read"
	case p.Why == policy.WhyAcceptEdits:
		return "an edit inside the project, which this mode allows"
	case p.State == policy.PartCovered:
		return "allowed by " + p.Why
	}
	why := "no rule allows it"
	if gap.Rule != "" {
		why = "nothing covers that it " + gapWords(gap.Rule)
	}
	switch {
	case gap.Inner != "":
		why = "no rule allows " + gap.Inner
	case gap.Rule == "" && gap.Read == "":
		why += "; it only reads, but for another command that does more"
	case gap.Read != "" && !strings.Contains(why, gap.Read):
		why += ", and it is no safe read: " + gap.Read
	}
	return why
}

// gapWords puts what is missing behind "that it".
func gapWords(text string) string {
	for _, verb := range [...]string{"sets ", "writes ", "reads "} {
		if strings.HasPrefix(text, verb) {
			return text
		}
	}
	return "is understood (" + text + ")"
}

// printRules says which rules would allow what is asked.
func (e *explained) printRules(w io.Writer) {
	if e.verdict.Outcome != policy.Ask {
		return
	}
	rules := policy.SuggestRules(e.in.Facts, e.verdict, e.in)
	if len(rules) == 0 {
		fmt.Fprintln(w, "\nNo rule is offered for it: only this one call can be allowed.")
		return
	}
	title := "This allow rule would cover it:"
	if len(rules) > 1 {
		title = "These allow rules together would cover it:"
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, r := range rules {
		fmt.Fprintf(w, "  %s\n", escape(r.String(), false))
	}
}

// maxPaths is how many paths are printed.
const maxPaths = 20

func printPaths(w io.Writer, title string, paths []string) {
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for i, path := range paths {
		if i == maxPaths {
			fmt.Fprintf(w, "  and %d more\n", len(paths)-maxPaths)
			return
		}
		fmt.Fprintf(w, "  %s\n", escape(path, false))
	}
}

func riskSentence(f *policy.Facts) string {
	switch risk := f.Risk(); {
	case len(risk.Words) > 0:
		return "Risk: " + risk.Level + ", because of " + strings.Join(risk.Words, ", ") + "."
	case risk.Level == policy.RiskLow:
		return "Risk: low. It only reads."
	default:
		return "Risk: " + risk.Level + ". It may change something, but nothing in it is known for harm."
	}
}

// printSteps says which step decided, and what the ones before it found.
func (e *explained) printSteps(w io.Writer) {
	v := e.verdict
	fmt.Fprintf(w, "\nDecided at step %d of %d:\n", v.Step, len(v.Trace))
	left := 0
	for _, line := range v.Trace {
		if !e.trace && line.Answer == "pass" && (line.Detail == "" || line.Step == 2) {
			left++
			continue
		}
		if !e.trace && line.Answer == "not reached" {
			continue
		}
		text := fmt.Sprintf("  %2d  %-17s  %-11s  %s", line.Step, line.Name, line.Answer, escape(line.Detail, false))
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	if left > 0 {
		fmt.Fprintln(w, "The steps before it that are not listed had nothing to say; --trace lists every step.")
	}
}

// printSources says what was judged by, and what could not be seen.
func (e *explained) printSources(w io.Writer) {
	fmt.Fprintf(w, "\nMode %s. Looked at:\n", e.in.Session.Mode)
	if e.locked != "" {
		fmt.Fprintf(w, "  the administrator does not allow the mode %s, so it was judged in %s\n", e.locked, e.in.Session.Mode)
	}
	fmt.Fprintf(w, "  the command line: %s\n", ruleCount(e.given))
	if e.config == "" {
		fmt.Fprintln(w, "  config.toml: left out")
	} else {
		fmt.Fprintf(w, "  %s: %s\n", escape(e.config, false), ruleCount(e.from(policy.SourceGlobal)))
	}
	if e.managed != "" {
		fmt.Fprintf(w, "  %s, the administrator's: %s\n", escape(e.managed, false), ruleCount(e.from(policy.SourceManaged)))
		fmt.Fprintf(w, "  .countersign/rules.toml of %s: %s\n", escape(e.project, false), ruleCount(e.from(policy.SourceRepository)))
	}
	for _, u := range e.files.Unreadable {
		fmt.Fprintf(w, "  UNREADABLE, so everything asks until it is mended: %s: %s\n", escape(u.Where, false), escape(u.Err, false))
	}
	for _, i := range e.files.Ignored {
		why := ignoredWords(i.Why)
		if i.Why == "not_trusted" {
			why = "it counts only where the desk keeps that you trust the file: countersign rules trust"
		}
		fmt.Fprintf(w, "  DOES NOT COUNT HERE: %s in %s: %s\n", escape(i.Text, false), escape(i.Where, false), why)
	}
	for _, line := range lockedWords(e.files.Constraints) {
		fmt.Fprintf(w, "  LOCKED by the administrator: %s\n", line)
	}
	fmt.Fprintln(w, "Not looked at: what the desk keeps (saved rules, a project's mode, trust in a repository, gates). It needs the core: countersign rules list")
	if e.elsewhere {
		fmt.Fprintln(w, "Judged as on another system, where no file of this one exists.")
	}
}

// from counts the rules of a source that count.
func (e *explained) from(source policy.Source) int {
	n := 0
	for _, r := range e.files.Rules {
		if r.Source == source {
			n++
		}
	}
	return n
}

func ruleCount(n int) string {
	switch n {
	case 0:
		return "no rules"
	case 1:
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}
