// Package config says where the files of one desk lie and reads config.toml. It decides nothing and writes nothing.
//
// The directories come from COUNTERSIGN_HOME, from the platform's own places, or, for a hook, from its command line
// alone: a repository's agent settings can set the environment of the owner's hook, so a hook believes none of it.
// That is why the socket lies under the state directory: whoever knows the one finds the other.
//
// The file is strict. A key that is not known, a value that is not among those listed, and a file that others may
// write are errors, because a rule that was misspelled is a rule that is not there.
//
// Known limit: on Windows owner and mode of the file are not checked; the profile directory's access list protects it.
package config
