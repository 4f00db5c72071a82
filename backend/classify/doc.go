// Package classify asks a language model whether a call may run without asking the owner: step 12 of auto mode. It owns
// the two protocols it speaks (chat completions of any compatible server, and messages), the masking of credentials, the
// strict reading of answers, and a small cache. It decides nothing: policy does, from the Classification it returns.
//
// A Classification is safe only when the whole answer is one JSON object whose field "safe" is the boolean true. Everything
// else is unsafe or an error with a code, and both ask.
//
// The call is sent complete or not at all. What is longer than MaxCall is not sent. Credentials are masked, and a mask
// never stands for a program, a host or a path: where masking would hide one of these, or where it cannot be seen where
// a credential ends, the call is not sent either.
//
// What the call holds cannot reach the instructions: these stand in the system role, the call is one JSON string in the
// user role, between lines with a marker that is new in every request.
//
// # Known limits
//
//   - Credentials are found by their known shapes and by names beside them (masktable.go). One that has neither is sent.
//   - A value that begins like a reference ($NAME, <name>, {{name}}) or a path is taken for one and shown: hiding it would
//     hide what the call does. Numbers in the arguments are not masked.
//   - Temperature 0 and max_tokens are always sent. Models that refuse them answer with an error, and the call asks.
//   - Proxies of the environment are not used: the environment is not the owner's word on where calls may be sent.
package classify
