// Package jsonedit edits JSON text without touching what it does not edit.
//
// Agents keep their settings in files that people also write by hand. Decoding and encoding such a file again would
// lose comments, key order, spacing and number spellings, so this package parses the text into a tree that knows the
// byte offsets of every token, and its edits are splices of the original bytes.
//
// It refuses what cannot be edited safely: a syntax error (with line and column), a trailing comma, a key that stands
// twice in one object (readers disagree about which one counts), a string with half a surrogate pair, nesting deeper
// than MaxDepth, and text that is not UTF-8. Comments are accepted only where the caller says that the file's own
// reader accepts or at least tolerates them.
//
// Keys are compared exactly, unlike encoding/json's struct decoding, which also accepts another spelling of a key.
//
// Known limit: a new value takes the indentation of the file's first indented line; a file that mixes several styles
// stays mixed.
package jsonedit
