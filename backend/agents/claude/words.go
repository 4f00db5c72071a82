package claude

import (
	"errors"
	"slices"
	"strings"

	"countersign/backend/wire"
)

// skillShellWords refuses a skill's own shell lines. They pass no other gate, and may only be refused, not rewritten.
const skillShellWords = "Countersign cannot bring a skill's own shell lines (!`command`) inside its boundary, so this one was not run. Propose the command as a call of the Bash tool."

// denialWords is the reason of a denial for the model: the core's sentence, and the owner's words where the sentence
// does not hold them.
func denialWords(s wire.CallStatus) string {
	text := s.Message
	if text == "" {
		switch {
		case s.Outcome != "":
			text = "Countersign did not let this call run (" + s.Outcome + ")."
		case s.State == "":
			text = "Countersign gave no answer that can be understood, so the call was not run."
		default:
			text = "Countersign did not let this call run: it is " + s.State + "."
		}
	}
	if s.Comment != "" && !strings.Contains(text, s.Comment) {
		text += " The owner's note: " + s.Comment
	}
	return text
}

// allowWords is the line for the model about an allowed call: the owner's note, if there is one.
func allowWords(s wire.CallStatus) string {
	if s.Comment == "" {
		return ""
	}
	return "Countersign: allowed, with the owner's note: " + s.Comment
}

// permissionWords is the reason of a denied permission request.
func permissionWords(r wire.PermissionResult) string {
	if r.Message != "" {
		return r.Message
	}
	return "Countersign has no decision that allows this call, so it was not run."
}

// pausedWords says that the session is paused.
func pausedWords(message string) string {
	text := "Countersign paused this session"
	if message != "" {
		text += ": " + strings.TrimRight(message, ".")
	}
	return text + ". Everything further is refused until the owner resumes it at the desk."
}

// failureWords says why a call could not be decided, and what the owner can do. It never says that a person refused.
func (h *hook) failureWords(err error) string {
	switch {
	case errors.Is(err, errWithdrawn):
		return "The call was withdrawn before Countersign decided it, so it was not run."
	case errors.Is(err, errDeadline):
		return "Nobody answered at the Countersign desk in time, so the call was not run. Propose it again later if it is still needed."
	}
	return "Countersign could not decide this call, so it was not run: " + h.problem(err)
}

// problem describes an error for the model and the person, with what to do.
func (h *hook) problem(err error) string {
	var no *wire.Error
	if errors.As(err, &no) && !errors.Is(err, errLost) {
		if text, ok := codeWords[no.Code]; ok {
			return text + details(no)
		}
		return "the desk answered " + no.Code + details(no) + "."
	}
	text := firstLine(err.Error())
	var hint interface{ Hint() string }
	if errors.As(err, &hint) && hint.Hint() != "" {
		return text + ". To mend it: " + hint.Hint() + "."
	}
	return text + ". To mend it: open Countersign, or run " + h.serveCommand() + ", and propose the call again."
}

// serveCommand is how a core of this very home is started.
func (h *hook) serveCommand() string {
	if h.options.Serve != "" {
		return h.options.Serve
	}
	return quote(h.options.Binary) + " serve"
}

// codeWords has a sentence for the codes that an owner can do something about.
var codeWords = map[string]string{
	"sandbox_unavailable": "commands must run inside the boundary, and it is not available on this machine.",
	"session_paused":      "this session is paused; the owner can resume it at the desk.",
	"desk_paused":         "the owner paused the desk, so every new call is refused.",
	"identity_missing":    "the desk does not recognise this process as Claude Code.",
	"too_many_sessions":   "the desk already follows as many sessions as it can.",
	"too_large":           "the call is too large.",
	"admission_mismatch":  "another call was proposed under the same id.",
	"command_unclear":     "its arguments leave open which command runs, or where; propose it with one command and nothing else.",
	"bad_directory":       "the working directory cannot be used.",
	"receipt_failed":      "the desk could not write its record, and nothing runs without one.",
	"internal_error":      "the desk failed; its log says why.",
	"source_unreadable":   "a source of rules cannot be read; the owner must mend it.",
	wire.CodeBusy:         "the desk is busy; try again in a moment.",
	"unknown_call":        "the desk does not know this call any more.",
	"unknown_action":      "the desk is of another version; update it and restart it.",
}

// details lists an error's arguments in a stable order.
func details(e *wire.Error) string {
	if len(e.Args) == 0 {
		return ""
	}
	keys := make([]string, 0, len(e.Args))
	for k := range e.Args {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		if e.Args[k] != "" {
			parts = append(parts, k+": "+e.Args[k])
		}
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(line, ". ")
}
