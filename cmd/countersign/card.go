package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"countersign/backend/desk"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// printCard shows one approval: the sentence, the exact command, where and inside which boundary it would run, why it
// is asked, and at last the agent's own words. The command is wrapped by the terminal, never cut.
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
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "    %-10s %s\n", name, strings.ReplaceAll(text, "\n", "\n               "))
		}
	}
	row("who", fmt.Sprintf("%s, identity %s (%s, process %d)", escape(card.Agent, false), identity, escape(card.Program, false), card.PID))
	if card.Command != "" {
		row("command", escape(card.Command, true))
		if hidden := escape(card.Command, true); hidden != card.Command {
			row("", "(characters that do not show were spelled out)")
		}
	} else {
		row("tool", escape(card.AgentTool, false)+" "+escape(string(card.Args), false))
	}
	for _, part := range card.Parts {
		if len(card.Parts) > 1 || part.State != "new" {
			row("part", "["+escape(part.State, false)+"] "+escape(part.Text, false))
		}
	}
	row("opaque", escape(card.Opaque, false))
	row("directory", escape(card.Cwd, false))
	for _, t := range card.Targets {
		row("writes", escape(t, false))
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
	row("answer", fmt.Sprintf("countersign answer %s allow | deny", shortID(q.ID)))
}

// boundaryWords says inside which boundary a call would run, and claims nothing beyond what is so.
func boundaryWords(card desk.Card) string {
	switch {
	case card.Effective != nil && card.Effective.Policy == "danger-full-access":
		return "none: it would run with all rights of this account"
	case card.Effective != nil:
		return "runs here, inside " + escape(card.Backend, false) + " (" + escape(string(card.Effective.Policy), false) + "); it starts only if the boundary is shown to hold"
	case card.Boundary == policy.BoundaryEnforced:
		return "runs here, as a checked file operation of the desk"
	}
	return escape(card.Agent, false) + " runs this itself; nothing is said about a boundary"
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
