package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"countersign/backend/wire"
)

// An answer that came a moment too soon is sent again under the same command id; whatever else is said is passed on.
func TestAnswerWaitsUntilItCounts(t *testing.T) {
	soon := &wire.Error{Code: "too_soon", Args: map[string]string{"wait_ms": "1"}}
	other := &wire.Error{Code: "already_answered"}
	for _, tt := range []struct {
		name    string
		replies []error
		want    error
	}{
		{"in time", []error{nil}, nil},
		{"too soon twice", []error{soon, soon, nil}, nil},
		{"answered elsewhere", []error{soon, other}, other},
		{"a wait that cannot be read", []error{&wire.Error{Code: "too_soon"}}, &wire.Error{Code: "too_soon"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			commands := map[string]int{}
			do := func(_ context.Context, command, _ string, _, _ any) error {
				commands[command]++
				err := tt.replies[0]
				tt.replies = tt.replies[1:]
				return err
			}
			_, err := answerFrom(context.Background(), do, time.Now(), wire.ActionQuestionReply, wire.QuestionReply{})
			if tt.want == nil && err != nil || tt.want != nil && (err == nil || err.Error() != tt.want.Error()) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if len(tt.replies) != 0 || len(commands) != 1 {
				t.Errorf("%d replies left, commands %v", len(tt.replies), commands)
			}
		})
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := answerFrom(ended, nil, time.Now().Add(time.Hour), "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
