package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"countersign/backend/wire"
)

// doer runs one action under a command id: over a connection, or in this very process.
type doer func(ctx context.Context, command, action string, in, out any) error

// maxShowing bounds the wait for a card to have been shown long enough. It is far longer than the core asks for, and ends
// a wait that a clock which was set makes absurd.
const maxShowing = 5 * time.Second

// showing tells the core that a card stands in front of a person, and returns from when on an answer counts.
func showing(ctx context.Context, do doer, q wire.Question) (time.Time, error) {
	var shown wire.ShownResult
	err := do(ctx, newCommandID(), wire.ActionQuestionShown, wire.QuestionShown{ID: q.ID, Version: q.Version}, &shown)
	return shown.AnswersAt, err
}

// answerFrom sends an answer once it counts: from is what showing returned.
func answerFrom(ctx context.Context, do doer, from time.Time, action string, in any) (wire.AnswerResult, error) {
	command := newCommandID()
	for wait := time.Until(from); ; {
		select {
		case <-ctx.Done():
			return wire.AnswerResult{}, ctx.Err()
		case <-time.After(min(wait, maxShowing)):
		}
		var result wire.AnswerResult
		err := do(ctx, command, action, in, &result)
		var soon bool
		if wait, soon = tooSoon(err); !soon {
			return result, err
		}
	}
}

// tooSoon reports whether the core takes the answer only later, and how much later.
func tooSoon(err error) (time.Duration, bool) {
	var we *wire.Error
	if !errors.As(err, &we) || we.Code != "too_soon" {
		return 0, false
	}
	ms, err := strconv.Atoi(we.Args["wait_ms"])
	return time.Duration(max(ms, 1)) * time.Millisecond, err == nil
}

func newCommandID() string { return uuid.Must(uuid.NewV7()).String() }
