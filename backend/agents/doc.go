// Package agents knows which agents there are, and recognises their processes.
//
// Each agent has an adapter in a package of its own below this one (claude); jsonedit and settings are what adapters
// share. This package joins them into one table. It decides nothing and talks to nobody.
//
// Known limit: a process is recognised by the path of its program, which says where a program lies and not what it is;
// a match by arguments or by a command name is reported as not verified. What a caller may do depends on being below
// an agent's process, so a false match only takes rights away.
package agents
