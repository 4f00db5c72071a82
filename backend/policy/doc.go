// Package policy answers one question: may this operation happen, must a person say so first, or must it not happen?
//
// It owns the rules and their grammar, the modes, the authority of a principal, the analysis of commands and paths, and
// the order in which all of that decides. Two functions are the whole of it:
//
//	Examine(call, view) -> *Facts   // parses the command, resolves paths through the given view of the filesystem
//	Decide(Input)       -> Verdict  // pure: no I/O, no clock, no package state; total; deterministic
//
// The same Decide is asked when an approval is published, when it is answered, when a mode changes, after a restart and
// just before the operation runs. No caller keeps a second opinion.
//
// Two asymmetries run through everything here. Deny and ask rules are matched generously: in every simple command of
// a text, behind wrappers, under any spelling of a name or path. Allow rules are matched strictly: every part must be
// covered, and whatever the analysis does not understand is covered by nothing. And what was not understood ("opaque")
// asks as soon as there is any deny or ask rule that it might have hidden from.
//
// What it refuses to do: it starts nothing, writes nothing, asks nobody, and never reads a request's words as authority.
//
// Known limits. The analysis reads bash; zsh, fish and ksh texts are analysed as bash and never allowed by a rule unless
// they are lists of plain words. PowerShell and cmd have conservative splitters: anything but plain words is opaque.
// What a program does with its arguments is known only for the programs in the tables (wrappers, readers and writers,
// executing options, safe reads); a program that is in none of them can do anything, so it asks. A denied file can still
// be read by an allowed program that opens it by itself: only a sandbox boundary stops that. Facts describe the
// filesystem at the moment of Examine; whoever acts on a verdict must open what was checked.
package policy
