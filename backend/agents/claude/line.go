package claude

import "strings"

// FixedLine is what an allowed command becomes: only the id varies, and no text of the command is quoted into a shell.
// The command itself waits in the core. The line runs it there, takes over the directory it ended in, since Claude
// reads the outer shell's directory after each command, and ends with its exit status.
func FixedLine(binary, home, id string) string {
	run := quote(binary) + " run --home " + quote(home)
	return run + " --call " + quote(id) + `; __cs=$?; cd -- "$(` + run + " --dir " + quote(id) + `)"; (exit $__cs)`
}

// ParseFixedLine reads a line back. ok is true only for exactly what FixedLine writes.
func ParseFixedLine(line string) (binary, home, id string, ok bool) {
	command, _, found := strings.Cut(line, "; __cs=$?; ")
	if !found {
		return "", "", "", false
	}
	w, ok := words(command)
	if !ok || len(w) != 6 || w[1] != "run" || w[2] != "--home" || w[4] != "--call" {
		return "", "", "", false
	}
	binary, home, id = w[0], w[3], w[5]
	if FixedLine(binary, home, id) != line {
		return "", "", "", false
	}
	return binary, home, id, true
}

// validID reports whether s looks like a call id of the core: a UUID in its usual form.
func validID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}
