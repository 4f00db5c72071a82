// Package desk holds the use cases of Countersign: it joins policy, approval, sandbox, checked writes, state and
// receipts, and registers every action of the wire. It is the only joiner: no other backend package knows two of them.
//
// It owns the order of things: what happened is committed, then published as a frame, then answered. It refuses to
// keep a second opinion: whether an operation may happen is policy.Decide's answer alone, and whether a person said so
// is approval's record alone.
//
// Who asks is never read from a request. The server describes the peer as the kernel sees it, and authorityOf turns
// that description into an Authority: a process below an agent holds an agent's authority whatever it says.
//
// Known limits: liveness of an agent's process and its first working directory are read from /proc and are available
// on Linux only; elsewhere the directory the agent claims is used and shown as claimed.
package desk
