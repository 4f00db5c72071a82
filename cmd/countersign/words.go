package main

import (
	"strings"
	"time"

	"countersign/backend/classify"
	"countersign/backend/wire"
)

// wireSentence says what an error code of the core means and what to do. {name} stands for an argument of the error.
func wireSentence(e *wire.Error) string {
	text, ok := codeSentences[e.Code]
	switch {
	case e.Code == "desk_paused" && e.Args["until"] == "":
		text = "the desk is paused until the owner resumes it, so new calls are refused. What waits already can still be answered."
	case e.Code == "session_paused" && e.Args["why"] == wire.PausedByOwner:
		text = strings.Replace(text, "{why}", pausedWords(e.Args["why"]), 1)
	}
	if !ok {
		text = "the core refused: " + e.Code
		if e.Args["detail"] != "" {
			text += " ({detail})"
		}
	}
	for name, value := range e.Args {
		if at, err := time.Parse(time.RFC3339, value); name == "until" && err == nil {
			value = at.Local().Format("2 January 15:04")
		}
		text = strings.ReplaceAll(text, "{"+name+"}", escape(value, false))
	}
	if hint := e.Args["hint"]; hint != "" && !strings.Contains(text, hint) {
		text += "\n" + escape(hint, true)
	}
	return text
}

// pausedWords says why a session is paused.
func pausedWords(why string) string {
	if why == wire.PausedByOwner {
		return "the owner paused it"
	}
	return escape(why, false)
}

var codeSentences = map[string]string{
	"agent_not_allowed":   "this is open to the owner only, and this process descends from an agent. Run it from a terminal that no agent started.",
	"already_answered":    "that approval was already answered: {outcome}. Nothing was changed by this answer.",
	"approval_mismatch":   "what would run is no longer what was approved ({what} changed). Propose the call again.",
	"command_unclear":     "the arguments of {tool} leave open which command runs, or in which directory, so it was refused. Propose one command, in one directory.",
	"invalid_rule":        "that is no rule: {problem}",
	"too_many_rules":      "as many rules are kept there as may be ({limit}). Remove some first.",
	"managed_locked":      "the administrator of this machine does not let allow rules be kept ({where}).",
	"managed_mode":        "the administrator of this machine does not let the mode {mode} be chosen.",
	"managed_sandbox":     "the administrator of this machine lets no command run outside the boundary, and {tool} cannot be brought there.",
	"mode_per_session":    "the mode {mode} can only be chosen for one session: countersign mode ID {mode}",
	"example_fails":       "the example {example} is not what the rule does (expected: {expected}). Nothing was kept.",
	"project_moved":       "another directory stands at {project} than when something was settled about it. Settle it anew with: countersign project {project} --boxed-reads by_mode",
	"content_changed":     "the rules file of {path} changed meanwhile. Look at it again.",
	"unknown_root":        "{path} is no further directory of that session.",
	"bad_arguments":       "the request is not understood: {problem}",
	"bad_capability":      "the boundary for this call cannot be made: {problem}",
	"bad_directory":       "the directory {path} cannot be used: {problem}",
	"bad_target":          "the file {path} cannot be used: {problem}",
	"capability_denied":   "this process does not hold {capability}.",
	"admission_mismatch":  "the same call was already proposed with other content; it must be proposed under a new id.",
	"cancelled":           "cancelled.",
	"cannot_extend":       "the agent itself waits no longer for that approval.",
	"desk_paused":         "the desk is paused until {until}, so new calls are refused. What waits already can still be answered.",
	"conflict":            "the mode changed meanwhile: it is {mode}, version {version}. Look again and repeat.",
	"identity_missing":    "the core cannot tell which agent process is asking, so it denies.",
	"internal_error":      "the core met a fault of its own and denied. Its log says more.",
	"invalid_mode":        "{mode} is not a permission mode. The modes are ask, acceptEdits, plan, auto and bypass.",
	"invalid_offer":       "that offer was not made for this approval. Look at it again with: countersign pending",
	"not_shown":           "that approval was not shown to anybody yet, so it cannot be allowed. Look at it with: countersign pending",
	"too_soon":            "that approval was shown only just now. Read it and answer again.",
	"window_open":         "the desk's window is open: answer there. A terminal answers only while the window is closed.",
	"passphrase_unset":    "no desk passphrase is set, so terminals cannot answer. Stop the core and run: countersign serve --set-passphrase",
	"no_terminal":         "a passphrase counts only when it is typed on a terminal.",
	"not_run_here":        "this call is not one that runs here.",
	"presence_required":   "answering from a terminal needs the desk passphrase.",
	"source_unreadable":   "a rule or a source of rules cannot be read, so what it could cover asks ({where}): {problem}",
	"no_desk":             "no desk is here yet ({state}), so there are no receipts. The first start makes one: countersign serve",
	"receipt_failed":      "the receipt could not be written, so the call did not run: {detail}",
	"sandbox_unavailable": "the sandbox cannot be shown to hold here ({protection}), so commands do not run.",
	"session_ended":       "the agent's session has ended.",
	"session_paused":      "this session is paused: {why}. The owner resumes it with: countersign sessions resume {session}",
	"stale_version":       "the approval changed since it was shown. Look at it again with: countersign pending",
	"start_failed":        "the command could not be started inside its boundary: {detail}",
	"too_large":           "the request is larger than {limit}.",
	"too_many_sessions":   "too many sessions are open (limit {limit}).",
	"unknown_action":      "the core does not know {action}: it is older or newer than this program. Restart it.",
	"unknown_call":        "there is no such call.",
	"unknown_question":    "there is no such approval.",
	"unknown_rule":        "there is no such saved rule.",
	"unknown_session":     "there is no such session.",
	"passphrase_wrong":    "that is not the desk passphrase.",
	"passphrase_wait":     "too many wrong passphrases: {detail}.",
	"expired":             "its time is over: nobody answered it in time, or it was not used in time.",
	"origin_gone":         "the agent that asked is gone.",
	"answered_in_agent":   "it was answered in the agent itself.",
	"already_redeemed":    "this call has already run; its id is good for one execution.",
	"not_allowed":         "this call is not allowed: it still waits, or it was denied.",
	"comment_too_long":    "the note is too long: {detail}.",
	"no_space":            "no space is left on the disk of the desk's state, so nothing was recorded and nothing is allowed.",
}

// classifierSentence says what a code of the classifier means and what to do.
func classifierSentence(code string) string {
	if text, ok := classifierSentences[code]; ok {
		return text
	}
	return "the endpoint answered with an error. Look at classifier.url, classifier.model and the key."
}

var classifierSentences = map[string]string{
	classify.CodeTooLong:     "the call is longer than what is sent (32 KiB), so nothing was sent.",
	classify.CodeUnsendable:  "the call cannot be sent whole without a credential in it, so nothing was sent.",
	classify.CodeNoModel:     "no classifier is configured. Set kind, url and model under [classifier] in config.toml.",
	classify.CodeTimeout:     "no answer came in time. classifier.timeout_seconds says how long it may take.",
	classify.CodeMalformed:   "the answer is not exactly what was asked for, so it does not count. Another model may do better.",
	classify.CodeRefused:     "the model refuses to judge this call.",
	classify.CodeUnreachable: "the endpoint cannot be reached. Look at classifier.url.",
	"http_401":               "the endpoint does not accept the key. Keep the right one with: countersign classifier set-key",
	"http_403":               "the endpoint does not accept the key. Keep the right one with: countersign classifier set-key",
	"http_404":               "the endpoint knows no such address or model. Look at classifier.url and classifier.model.",
	"http_429":               "the endpoint has had too many requests, or the account there has no more credit.",
}
