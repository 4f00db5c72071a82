// Package core runs a desk: it opens one in its directories and serves it on its socket, the same for the window and for
// the command line. It also finds the directories, the account's home and the programs, and meets a core that runs
// already or starts one.
//
// It decides nothing. Who starts a core decides what starts: where the passphrase comes from is a function that the
// caller brings.
package core
