package classify

import (
	"fmt"

	"countersign/backend/policy"
)

// The codes of a Classification's Err, each with one meaning. An answer with another HTTP status than 200 is "http_" and
// the status.
const (
	CodeTooLong     = "too_long"    // the call is longer than MaxCall and was not sent
	CodeUnsendable  = "unsendable"  // the call was not sent: it cannot be shown whole without a credential (see Sent)
	CodeNoModel     = "no_model"    // no classifier is configured
	CodeTimeout     = "timeout"     // no answer in time, or the caller waits no longer
	CodeMalformed   = "malformed"   // an answer came that is not exactly what was asked for
	CodeRefused     = "refused"     // the model refuses to judge
	CodeUnreachable = "unreachable" // no connection, or it broke
)

func codeOfStatus(status int) string { return fmt.Sprintf("http_%d", status) }

// failed is a Classification that is none. The detail is for a person who tests the classifier; no decision reads it.
func failed(code, detail string) policy.Classification {
	return policy.Classification{Err: code, Reason: shortReason(detail)}
}
