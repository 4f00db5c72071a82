package approval

import (
	"errors"
	"fmt"
	"time"
)

// ErrStop ends a Tx.Each walk early; Each then returns nil.
var ErrStop = errors.New("stop the walk")

// The buckets of this package; the package comment says what they hold. Nobody else writes them.
const (
	BucketCalls         = "calls"
	BucketCallKeys      = "call_keys"
	BucketLiveCalls     = "live_calls"
	BucketSessionCalls  = "session_calls"
	BucketQuestions     = "questions"
	BucketOpenQuestions = "open_questions"
	BucketDeadlines     = "deadlines"
	BucketParkedCalls   = "parked_calls"
	BucketCommands      = "commands"
	BucketCommandTimes  = "command_times"
)

// Buckets returns the names of every bucket of this package.
func Buckets() []string {
	return []string{
		BucketCalls, BucketCallKeys, BucketLiveCalls, BucketSessionCalls, BucketQuestions, BucketOpenQuestions,
		BucketDeadlines, BucketParkedCalls, BucketCommands, BucketCommandTimes,
	}
}

// separator joins the parts of an index key. Admit refuses it in every part.
const separator = "\x00"

// maxSeconds keeps a time in an index key at twelve digits; it lies in the year 33658.
const maxSeconds = 999_999_999_999

// timeKey prints t so that keys sort by time. Times before 1970 sort as 1970.
func timeKey(t time.Time) string {
	seconds, nanos := t.Unix(), t.Nanosecond()
	if seconds < 0 {
		seconds, nanos = 0, 0
	}
	return fmt.Sprintf("%012d.%09d", min(seconds, maxSeconds), nanos)
}

// newestFirstKey prints t so that keys sort by time, newest first.
func newestFirstKey(t time.Time) string {
	seconds := min(max(t.Unix(), 0), maxSeconds)
	return fmt.Sprintf("%012d.%09d", maxSeconds-seconds, 999_999_999-t.Nanosecond())
}
