package approval

import (
	"fmt"
	"strconv"
	"time"
)

// Error is a refusal of this package: a code for screens and programs, and a sentence for logs. The variables below
// are its only values; compare with errors.Is.
type Error struct {
	code string
	text string
	kind *Error // the wider error this one also is
}

// Error returns the sentence.
func (e *Error) Error() string { return e.text }

// Code returns the code; each has the one meaning documented at its variable.
func (e *Error) Code() string { return e.code }

// Unwrap returns the wider error, or nil.
func (e *Error) Unwrap() error {
	if e.kind == nil {
		return nil
	}
	return e.kind
}

// What can be wrong with an admission.
var (
	// ErrInvalidCall: a field of the proposed call is missing, too long, or not what it must be.
	ErrInvalidCall = &Error{code: "invalid_call", text: "the call is not valid"}
	// ErrInvalidQuestion: the question does not fit the verdict, or its offers are not well formed.
	ErrInvalidQuestion = &Error{code: "invalid_question", text: "the question is not valid"}
	// ErrArgsTooLarge: the arguments are longer than MaxArgs. They are refused, never cut: what cannot be shown in
	// full cannot be approved.
	ErrArgsTooLarge = &Error{code: "args_too_large", text: "the arguments are too large"}
	// ErrIdentityMissing: a call without an authenticated principal cannot be allowed and cannot ask.
	ErrIdentityMissing = &Error{code: "identity_missing", text: "the call has no authenticated principal"}
	// ErrMismatch: what is proposed or is about to run is not what was admitted; it must be asked about again.
	ErrMismatch = &Error{code: "approval_mismatch", text: "this is not what was admitted"}
	// ErrTooMany: the session has MaxOpenQuestions open questions.
	ErrTooMany = &Error{code: "too_many_open", text: "too many open questions in this session"}
	// ErrTooManyRepeats: the agent gives no tool call ids and made the same call MaxRepeats times in one turn.
	ErrTooManyRepeats = &Error{code: "too_many_repeats", text: "the same call too many times in one turn"}
)

// What can be wrong with an answer.
var (
	// ErrInvalidCommand: the command id is missing or too long.
	ErrInvalidCommand = &Error{code: "invalid_command", text: "the command id is not valid"}
	// ErrCommandReused: this command id was already used for another answer. Nothing was changed.
	ErrCommandReused = &Error{code: "command_reused", text: "the command id was already used for another answer"}
	// ErrNotOwner: only the owner, holding approval.answer, answers.
	ErrNotOwner = &Error{code: "not_owner", text: "only the owner may answer"}
	// ErrUnknownQuestion: there is no question with this id, and none was kept.
	ErrUnknownQuestion = &Error{code: "unknown_question", text: "no such question"}
	// ErrStaleVersion: the question changed since it was shown; show it again.
	ErrStaleVersion = &Error{code: "stale_version", text: "the question changed since it was shown"}
	// ErrInvalidOffer: the answer names an offer that was not made.
	ErrInvalidOffer = &Error{code: "invalid_offer", text: "no such offer was made"}
	// ErrCommentTooLong: the comment is longer than MaxComment.
	ErrCommentTooLong = &Error{code: "comment_too_long", text: "the comment is too long"}
	// ErrNotShown: the card was never put in front of the owner, so nobody can have read what would be allowed.
	ErrNotShown = &Error{code: "not_shown", text: "the card was never shown"}
	// ErrTooSoon: the card was first shown less than ShownDelay ago; what was pressed was meant for something else.
	ErrTooSoon = &Error{code: "too_soon", text: "the card was shown only just now"}
	// ErrCannotExtend: the client itself waits no longer than the question already does.
	ErrCannotExtend = &Error{code: "cannot_extend", text: "the client itself waits no longer"}
	// ErrNotSaved: the rule of the offer could not be saved, so the answer was not applied. The question stays open.
	ErrNotSaved = &Error{code: "rule_not_saved", text: "the rule could not be saved; the answer was not applied"}
	// ErrExpired: nobody answered in time, or the allow was not redeemed in time.
	ErrExpired = &Error{code: "expired", text: "the time to answer or to redeem is over"}
	// ErrCancelled: the client withdrew the call before it was answered.
	ErrCancelled = &Error{code: "cancelled", text: "the call was cancelled"}
	// ErrOriginGone: the agent's process ended while the question was open. It is also an ErrCancelled.
	ErrOriginGone = &Error{code: "origin_gone", text: "the agent that asked is gone", kind: ErrCancelled}
	// ErrAnsweredInAgent: the question was answered in the agent's own prompt. It is also an ErrCancelled.
	ErrAnsweredInAgent = &Error{code: "answered_in_agent", text: "the question was answered in the agent", kind: ErrCancelled}
)

// What can be wrong with the life of a call.
var (
	// ErrUnknownCall: there is no call with this id.
	ErrUnknownCall = &Error{code: "unknown_call", text: "no such call"}
	// ErrNotAllowed: the call is not allowed: it still waits, was denied or was refused.
	ErrNotAllowed = &Error{code: "not_allowed", text: "the call is not allowed"}
	// ErrAlreadyRedeemed: the allow was already used; it is good for one execution.
	ErrAlreadyRedeemed = &Error{code: "already_redeemed", text: "the allow was already redeemed"}
	// ErrInvalidOutcome: the outcome named is not one this operation can give.
	ErrInvalidOutcome = &Error{code: "invalid_outcome", text: "not an outcome of this operation"}
	// ErrDamaged: the store contradicts itself: an index names a record that is not there, or a question stands open
	// for a call that does not wait. Nothing was changed.
	ErrDamaged = &Error{code: "approval_damaged", text: "the stored approvals contradict themselves"}
)

// Errors returns every Error of this package, for the reference of codes.
func Errors() []*Error {
	return []*Error{
		ErrInvalidCall, ErrInvalidQuestion, ErrArgsTooLarge, ErrIdentityMissing, ErrMismatch, ErrTooMany,
		ErrTooManyRepeats,
		ErrInvalidCommand, ErrCommandReused, ErrNotOwner, ErrUnknownQuestion, ErrStaleVersion, ErrInvalidOffer,
		ErrCommentTooLong, ErrNotShown, ErrTooSoon, ErrCannotExtend, ErrNotSaved, ErrExpired, ErrCancelled, ErrOriginGone, ErrAnsweredInAgent,
		ErrUnknownCall, ErrNotAllowed, ErrAlreadyRedeemed, ErrInvalidOutcome, ErrDamaged,
	}
}

// AlreadyAnswered is what a second answer gets: the outcome that stands, "allow" or "deny".
type AlreadyAnswered struct {
	Outcome string
	Version int // of the question as it stands
}

// Error names the outcome.
func (e *AlreadyAnswered) Error() string { return "already answered: " + e.Outcome }

// Code returns "already_answered".
func (e *AlreadyAnswered) Code() string { return "already_answered" }

// TooSoonError says how long the answer comes too soon. It is an ErrTooSoon.
type TooSoonError struct{ Wait time.Duration }

// Error names the wait.
func (e *TooSoonError) Error() string {
	return ErrTooSoon.text + ": answers count in " + e.Wait.String()
}

// Code returns "too_soon".
func (e *TooSoonError) Code() string { return ErrTooSoon.code }

// Args returns the wait in milliseconds, rounded up.
func (e *TooSoonError) Args() map[string]string {
	return map[string]string{"wait_ms": strconv.FormatInt((e.Wait + time.Millisecond - 1).Milliseconds(), 10)}
}

// Unwrap returns ErrTooSoon.
func (e *TooSoonError) Unwrap() error { return ErrTooSoon }

// TransitionError is a step that the table above Next does not have. Nothing was changed.
type TransitionError struct {
	State CallState
	Event EventKind
}

// Error names the state and the event.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("a call that is %q cannot take %q", e.State, e.Event)
}

// Code returns "invalid_transition".
func (e *TransitionError) Code() string { return "invalid_transition" }

// SaveError says why the rule of an offer could not be saved. It is an ErrNotSaved; Unwrap also gives the cause.
type SaveError struct{ Cause error }

// Error names the cause.
func (e *SaveError) Error() string { return ErrNotSaved.text + ": " + e.Cause.Error() }

// Code returns "rule_not_saved".
func (e *SaveError) Code() string { return ErrNotSaved.code }

// Unwrap returns ErrNotSaved and the cause.
func (e *SaveError) Unwrap() []error { return []error{ErrNotSaved, e.Cause} }
