// Command agent is a scripted agent for tests of the window and of the browser pages: it proposes the calls it is told to,
// waits for their answers and runs what was allowed, through the same client as every other program. Built under the
// name of a known agent (claude) it is recognised as one. It finds the desk by COUNTERSIGN_HOME.
//
// It reads one JSON object a line from standard input (order) and writes one a line to standard output (event). Several
// calls wait at the same time; each order's events carry its id. At the end of its input it ends at once, as an agent
// does that is closed: what still waits ends as it does when an agent is gone.
//
//	{"id": "a", "tool": "bash", "args": {"command": "touch x"}}
//	{"id":"a","event":"admitted","call":"…","question":"…","state":"waiting"}
//	{"id":"a","event":"decided","call":"…","state":"allowed"}
//	{"id":"a","event":"ended","call":"…","output":"","exit":0}
//	{"cancel": "…"}
//
// It decides nothing and holds nothing back: a call that is not allowed is not run, everything else is.
package main
