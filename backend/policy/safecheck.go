package policy

import (
	"strings"
)

func echoOnly(_ *analysis, _ *command, operands []word, _ []string) string {
	return printsPlainly(operands)
}

func printfOnly(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) == 0 || !operands[0].known || strings.HasPrefix(operands[0].text, "-") {
		return "printf whose format is not literal"
	}
	return printsPlainly(operands)
}

// printsPlainly accepts words that no shell evaluates again. zsh's printf and the arithmetic of ksh would evaluate a
// subscript.
func printsPlainly(operands []word) string {
	for _, w := range operands {
		if strings.Contains(w.text, "$(") || strings.Contains(w.text, "`") {
			return "a word that another shell might evaluate"
		}
	}
	return ""
}

// testOnly accepts tests of texts, numbers and files inside the roots.
func testOnly(x *analysis, c *command, operands []word, _ []string) string {
	for _, w := range operands {
		switch {
		case w.text == "-v" || w.text == "-R" || strings.ContainsAny(w.text, "[`") && w.text != "[" || strings.Contains(w.text, "$("):
			return "a test that evaluates"
		case strings.HasPrefix(w.text, "-"):
		case strings.ContainsAny(w.text, "/~") || w.text == "..":
			if why := x.readable(c, w); why != "" {
				return why
			}
		}
	}
	return ""
}

// readable checks a path that is not recorded as an access.
func (x *analysis) readable(c *command, w word) string {
	if c.moved {
		return "a path in a directory that is not known"
	}
	a := access{text: w.text, assumed: w.assumed}
	x.locate(&a, x.f.cwd, w.text)
	return a.whyUnreadable()
}

func dateOnly(_ *analysis, _ *command, operands []word, _ []string) string {
	for _, w := range operands {
		if !strings.HasPrefix(w.text, "+") {
			return "sets the date"
		}
	}
	return ""
}

func numbersOnly(_ *analysis, _ *command, operands []word, _ []string) string {
	for _, w := range operands {
		if !isNumber(w.text) && !(w.tame && !w.known) {
			return "not a number"
		}
	}
	return ""
}

// setOptions accepts the options that scripts start with. Operands would change the positional parameters.
func setOptions(_ *analysis, _ *command, operands []word, _ []string) string {
	for i := 0; i < len(operands); i++ {
		text := operands[i].text
		if len(text) < 2 || text[0] != '-' && text[0] != '+' || strings.Trim(text[1:], "eufo") != "" {
			return "set with more than -e, -u, -f, -o pipefail"
		}
		if strings.HasSuffix(text, "o") {
			if i++; i >= len(operands) || !listed("pipefail errexit nounset noglob", operands[i].text) {
				return "set -o"
			}
		}
	}
	if len(operands) == 0 {
		return "set prints every variable"
	}
	return ""
}

func versionOnly(_ *analysis, c *command, operands []word, _ []string) string {
	if len(operands) == 1 && operands[0].text == "--version" {
		return ""
	}
	if len(operands) == 1 && operands[0].text == "-v" && (c.name == "node" || c.name == "npm") {
		return ""
	}
	return "not a known reading command"
}

func commandQuery(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) < 2 || operands[0].text != "-v" && operands[0].text != "-V" {
		return "runs another command"
	}
	for _, w := range operands[1:] {
		if strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") != "" {
			return "not a plain name"
		}
	}
	return ""
}

func noRecursion(_ *analysis, _ *command, _ []word, flags []string) string {
	if hasFlag(flags, "-r --recursive") {
		return "recursion that could reach secret files"
	}
	return ""
}

// searches judges grep: recursion must not reach secret files.
func searches(x *analysis, c *command, operands []word, flags []string) string {
	if hasFlag(flags, "-R --dereference-recursive") {
		return "recursion that follows links"
	}
	if hasFlag(flags, "-r --recursive") {
		return x.reachesSecret(c)
	}
	return ""
}

// ripgrep judges rg, which searches what is below unless it is given files.
func ripgrep(x *analysis, c *command, operands []word, flags []string) string {
	if hasFlag(flags, "-L") {
		return "recursion that follows links"
	}
	if hasFlag(flags, "-V --version --type-list") {
		return ""
	}
	return x.reachesSecret(c)
}

// reachesSecret looks at what the command's recursion reaches.
func (x *analysis) reachesSecret(c *command) string {
	for _, i := range c.accesses {
		if why := x.f.accesses[i].reachesSecret(); why != "" {
			return why
		}
	}
	return ""
}

func (a *access) reachesSecret() string {
	if !a.recursive {
		return ""
	}
	if a.reachMore {
		return "recursion over more files than were looked at"
	}
	if a.reachSecret != "" {
		return "recursion that reaches secret material (" + a.reachSecret + ")"
	}
	return ""
}

// findTests are the expressions of find that only choose and print.
var findTests = map[string]int{ // expression -> words it takes
	"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-regex": 1, "-iregex": 1, "-regextype": 1,
	"-type": 1, "-xtype": 1, "-maxdepth": 1, "-mindepth": 1, "-size": 1, "-mtime": 1, "-mmin": 1, "-atime": 1,
	"-amin": 1, "-ctime": 1, "-cmin": 1, "-perm": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1, "-links": 1,
	"-inum": 1, "-empty": 0, "-readable": 0, "-writable": 0, "-executable": 0, "-print": 0, "-print0": 0, "-printf": 1,
	"-ls": 0, "-prune": 0, "-quit": 0, "-depth": 0, "-mount": 0, "-xdev": 0, "-daystart": 0, "-true": 0, "-false": 0,
	"-not": 0, "!": 0, "-o": 0, "-or": 0, "-a": 0, "-and": 0, "(": 0, ")": 0, ",": 0, "-nouser": 0, "-nogroup": 0,
	"-newer": 1, "-anewer": 1, "-cnewer": 1,
}

func findReads(_ *analysis, _ *command, operands []word, _ []string) string {
	i := 0
	for i < len(operands) && operands[i].text == "-P" {
		i++
	}
	for i < len(operands) && !strings.HasPrefix(operands[i].text, "-") && operands[i].text != "(" && operands[i].text != "!" {
		i++ // a starting point: an access
	}
	for ; i < len(operands); i++ {
		takes, ok := findTests[operands[i].text]
		if !ok {
			return "find " + operands[i].text
		}
		i += takes
	}
	return ""
}

// jqFilter accepts filters that read nothing but their input.
func jqFilter(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) == 0 {
		return "no filter"
	}
	for _, name := range [...]string{"env", "$ENV", "include", "import", "input_filename", "$__prog", "getpath/1", "modulemeta", "get_search_list", "debug", "stderr", "halt_error", "@sh"} {
		if strings.Contains(operands[0].text, name) {
			return "a filter that reaches outside its input"
		}
	}
	return ""
}

// sedPrints accepts only scripts that neither write nor execute.
func sedPrints(_ *analysis, _ *command, operands []word, flags []string) string {
	scripts := 0
	for _, flag := range flags {
		name, script, _ := strings.Cut(flag, "=")
		if name == "-e" || name == "--expression" {
			if scripts++; !plainSed(script) {
				return "a sed script that might write or execute"
			}
		}
	}
	if scripts == 0 {
		if len(operands) == 0 {
			return "no script"
		}
		if !plainSed(operands[0].text) {
			return "a sed script that might write or execute"
		}
	}
	return ""
}
