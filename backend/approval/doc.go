// Package approval turns an "ask" into a wait that survives crashes, and one answer into exactly one outcome.
//
// It owns the life of an admitted call (the table above Next), the questions to the owner and the results of the
// commands that answered them. Every transition is one transaction of a Store; the events it returns are what was
// committed and are to be published after it: commit, then publish, then answer.
//
// It refuses to decide policy, to execute anything, and to invent outcomes: a person's denial, a time-out, a
// cancellation and an agent that went away are told apart for ever. What was admitted is immutable; an allow is bound
// to the digest of what is about to run and is good for one redemption within AllowTTL.
//
// Identity comes in as a policy.Authority made by the server. Only an owner that holds approval.answer answers here,
// whatever capabilities another kind of principal may carry; whether a terminal may speak for the owner is decided
// before, in desk.
//
// An allow is taken only for a card that was put in front of the owner (Shown), and no answer within ShownDelay of the
// first time: no surface can answer what nobody can have read.
//
// # Buckets
//
//	calls           call id                          Call
//	call_keys       admission key                    call id
//	live_calls      session NUL call id              state, while the call is not finished
//	session_calls   session NUL inverted time NUL id newest first; the value is null
//	questions       question id                      Question
//	open_questions  session NUL question id          null, while the question is open
//	deadlines       time NUL call id                 the time, while a wait or an unredeemed allow can expire
//	parked_calls    session NUL Recognition NUL id   null, for an agent that was told "still waiting"
//	commands        command id                       digest of the command and its result
//	command_times   time NUL command id              null, for the retention of results
//
// # Limits
//
// Time is wall-clock time, so that a suspended machine does not extend a wait. A clock that is set back lengthens a
// wait, which is harmless; an allow whose decision lies in the future by more than ClockTolerance counts as expired.
// Whether the client of a call without tool call id is still connected is known only in memory (Lost): after a
// restart every call that is not finished counts as unattended and can be re-attached to.
package approval
