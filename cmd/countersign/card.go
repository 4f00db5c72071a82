package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"countersign/backend/desk"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// printCard shows one approval: the sentence, the exact command, where and inside which boundary it would run, why it
// is asked, and at last the agent's own words. The command is wrapped, never cut; every further line of a row begins
// with a mark, so that no text of an agent can pass for a row of its own.
func printCard(w io.Writer, q wire.Question, now time.Time) {
	var card desk.Card
	if err := json.Unmarshal(q.Detail, &card); err != nil {
		fmt.Fprintf(w, "%s  %s (its details cannot be read: deny it)\n", shortID(q.ID), escape(q.Prompt, false))
		return
	}
	identity := "claimed"
	if card.Verified {
		identity = "verified"
	}
	fmt.Fprintf(w, "%s  %s  [%s risk]\n", shortID(q.ID), escape(q.Prompt, false), escape(q.Risk, false))
	width := outputWidth(w) - len(rowIndent)
	row := func(name, text string) {
		for i, line := range wrap(text, width) {
			switch {
			case text == "":
			case i == 0:
				fmt.Fprintf(w, "    %-10s %s\n", name, line)
			default:
				fmt.Fprintf(w, "%s%s\n", rowIndent, line)
			}
		}
	}
	row("who", fmt.Sprintf("%s, identity %s (%s, process %d)", escape(card.Agent, false), identity, escape(card.Program, false), card.PID))
	if len(card.Chain) > 0 {
		names := make([]string, len(card.Chain))
		for i, name := range card.Chain {
			names[i] = escape(name, false)
		}
		row("under", strings.Join(names, ", "))
	}
	if card.Command != "" {
		row("command", escape(card.Command, true))
		if hidden := escape(card.Command, true); hidden != card.Command {
			row("", "(characters that do not show were spelled out)")
		}
	} else {
		row("tool", escape(card.AgentTool, false))
		printArguments(row, card.Args)
	}
	for _, part := range card.Parts {
		if len(card.Parts) > 1 || part.State != "new" {
			row("part", "["+partWords(part)+"] "+escape(part.Text, false))
		}
	}
	row("opaque", escape(card.Opaque, false))
	row("directory", escape(card.Cwd, false))
	for _, t := range card.Targets {
		row("writes", escape(t, false))
	}
	for _, r := range card.Runs {
		row("runs", escape(r, false)+" (as it is now; if it changes, the call does not run)")
	}
	row("boundary", boundaryWords(card))
	if e := card.Effective; e != nil {
		row("may read", paths(e.ReadRoots))
		row("may write", paths(e.WriteRoots))
		row("network", escape(string(e.Network), false))
	}
	row("why", whyWords(card.Verdict))
	if len(card.Risk.Words) > 0 {
		row("risk", escape(strings.Join(card.Risk.Words, ", "), false))
	}
	if card.Says != "" {
		row("it says", "“"+escape(card.Says, false)+"”")
	}
	for _, o := range q.Offers {
		text := fmt.Sprintf("%d: %s", o.Number, escape(o.Scope, false))
		if len(o.Rules) > 0 {
			text += ", saving " + escape(strings.Join(o.Rules, ", "), false)
			if o.Boundary == policy.BoundaryEnforced {
				text += " (only for calls that run enforced)"
			}
		}
		row("offer", text)
	}
	if !q.ExpiresAt.IsZero() {
		row("expires", "in "+max(q.ExpiresAt.Sub(now), 0).Round(time.Second).String())
	}
}

// partWords says what is known about a part, and why.
func partWords(part policy.Part) string {
	words := part.State
	switch part.Why {
	case "":
	case policy.WhySafeRead:
		words += ", safe read"
	case policy.WhyAcceptEdits:
		words += ", accepted edit"
	default:
		words += ": " + part.Why
	}
	return escape(words, false)
}

// printArguments shows a call's arguments one by one, text with its own lines. An edit is shown as what goes and what
// comes.
func printArguments(row func(name, text string), args json.RawMessage) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(args, &all); err != nil {
		row("arguments", escape(string(args), false))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var text string
		if json.Unmarshal(all[name], &text) != nil {
			text = string(all[name])
		}
		if name != "description" {
			row(escape(name, false), escape(text, true))
		}
	}
}

// printWaiting shows an approval with how to answer it.
func printWaiting(w io.Writer, q wire.Question, now time.Time) {
	printCard(w, q, now)
	fmt.Fprintf(w, "    %-10s countersign answer %s allow | deny\n", "answer", shortID(q.ID))
}

// rowIndent begins every further line of a row.
const rowIndent = "             | "

// The widths that rows are wrapped to, in columns.
const (
	defaultWidth = 100
	leastWidth   = 40
)

// outputWidth is how wide the person's terminal is.
func outputWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return max(columns, leastWidth)
		}
	}
	return defaultWidth
}

// wrap breaks text into lines of at most width columns, at its own line ends and wherever a line is full: at no word, so
// that nothing of a command is moved or lost. A character that is not ASCII counts as two columns, the most it can take.
func wrap(text string, width int) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		start, used := 0, 0
		for i, r := range line {
			columns := 1
			switch {
			case r == '\t':
				columns = 8
			case r >= 0x80:
				columns = 2
			}
			if used+columns > width && i > start {
				lines = append(lines, line[start:i])
				start, used = i, 0
			}
			used += columns
		}
		lines = append(lines, line[start:])
	}
	return lines
}

// boundaryWords says inside which boundary a call would run, and claims nothing beyond what is so.
func boundaryWords(card desk.Card) string {
	switch {
	case !card.Here:
		return escape(card.Agent, false) + " runs this itself; nothing is said about a boundary"
	case card.Effective != nil && (card.Effective.Policy == "danger-full-access" || card.Boundary != policy.BoundaryEnforced):
		return "none: it would run with all rights of this account"
	case card.Effective != nil:
		return "runs here, inside " + escape(card.Backend, false) + " (" + escape(string(card.Effective.Policy), false) + "); it starts only if the boundary is shown to hold"
	}
	return "runs here, as a checked file operation of the desk"
}

// paths shows resolved directories; the system's own are summed up.
func paths(list []string) string {
	var own []string
	system := 0
	for _, p := range list {
		switch first := strings.SplitN(strings.TrimPrefix(p, "/"), "/", 2)[0]; first {
		case "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "dev", "proc", "nix":
			system++
		default:
			own = append(own, escape(p, false))
		}
	}
	text := strings.Join(own, ", ")
	if system > 0 {
		if text != "" {
			text += ", "
		}
		text += "the system's programs and libraries"
	}
	if text == "" {
		return "nothing"
	}
	return text
}

func whyWords(v policy.Verdict) string {
	text := strings.ReplaceAll(string(v.Reason), "_", " ") + fmt.Sprintf(" (step %d)", v.Step)
	if v.Rule != "" {
		text += ": " + v.Rule
		if v.Source != "" {
			text += " from " + string(v.Source) + " rules"
		}
	}
	return escape(text, false)
}
