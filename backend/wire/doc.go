// Package wire is the language between Countersign's core and its clients: the messages, the actions' argument and
// result types, the codec, the log of frames, and the client.
//
// A message is one JSON object on one line, at most MaxMessage bytes. A client sends a hello with a nonce; the core
// answers with its epoch and a signature by its identity key over both, so that a client that was told the core's
// fingerprint cannot be talked into asking somebody else. After that the client sends Requests, each with a command id,
// and receives Replies in any order, and Frames if it subscribed.
//
// What it refuses: longer messages (without buffering them), text that is not UTF-8, NUL bytes, JSON nested deeper than
// MaxDepth; in a Request also escaped NUL, a key given twice, and fields it does not know, since a field that an older
// core does not know may be a restriction. Replies and frames may hold fields that an older client does not know.
//
// What it does not do: it decides nothing and it authenticates no client; who a client is comes from the kernel
// (package server). It does not reconnect: the caller dials again and resumes with its Cursor.
//
// Known limits: files travel only over unix sockets. On Windows, and on systems where the peer of a unix socket cannot
// be asked for, DoWith with files returns ErrFilesUnsupported. The hello proves which core answers, not that nobody of
// the same account reads along: a process of the same account is out of scope (docs/threat-model.md).
package wire
