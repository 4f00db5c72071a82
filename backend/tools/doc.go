// Package tools owns the file tools that run here: read, edit and write. For each there is a pure planner, which turns
// arguments and the file's present content into what would be done (cards show that as a diff), and a function that
// does it through checked files.
//
// Arguments are read strictly and never completed by a guess: an unknown, missing, null or doubled argument, a wrong
// type and text that JSON would have to repair are errors that name the argument. What is not understood does not run.
//
// A tool takes the snapshot that was made when the call was admitted, refuses arguments that name another file, and
// leaves every check of the file itself to backend/winlock. It decides nothing about permission.
//
// Limits: read returns whole lines and only of files up to winlock.DefaultReadLimit; edit and write handle files and
// results up to MaxResult, in memory.
package tools
