package policy

import (
	"regexp"
	"strings"
)

// Why an allow rule gives away more than one can oversee.
const (
	dangerWholeTool = "whole_tool" // any command
	dangerHandsOver = "hands_over" // whatever an interpreter or a wrapper is told to run
	dangerRemoves   = "removes"    // the removal of anything
	dangerSends     = "sends"      // a download from, or an upload to, anywhere
	dangerWrites    = "writes_anywhere"
	dangerSecrets   = "reads_secrets"
	dangerAnyHost   = "any_host"
	dangerAnyServer = "any_server"
	dangerAnyTool   = "any_tool" // of one MCP server
	dangerAnyPage   = "any_surface"
)

// dangerousAllow says why an allow rule is dangerous, or "".
func dangerousAllow(r *SourcedRule, at ExamplePlace) string {
	c := r.Rule.c
	if r.List != ListAllow {
		return ""
	}
	switch c.family {
	case familyCommand:
		return dangerousCommand(c)
	case familyWrite:
		if c.kind == kindWhole || grantsAny(c, at, outsidePaths(at)) {
			return dangerWrites
		}
	case familyRead:
		if c.kind == kindWhole || grantsAny(c, at, secretPaths(at)) {
			return dangerSecrets
		}
	case familyDomain:
		// A name without a dot is a whole top level domain, or a machine of the local network.
		if c.kind == kindWhole || c.domain == "*" || !strings.ContainsAny(c.domain, ".:") && c.domain != "localhost" {
			return dangerAnyHost
		}
	case familyMCP:
		switch {
		case c.kind == kindWhole || strings.Trim(c.server, "*") == "":
			return dangerAnyServer
		case strings.Trim(c.tool, "*") == "":
			return dangerAnyTool
		}
	case familySurface:
		if c.kind == kindWhole {
			return dangerAnyPage
		}
	}
	return ""
}

func dangerousCommand(c *compiledRule) string {
	switch {
	case c.kind == kindWhole || c.everyCommand():
		return dangerWholeTool
	case c.handsOver():
		return dangerHandsOver
	case !c.open() || len(c.shape.operands) > 0 && !c.lastIsPattern():
		return ""
	case removers[c.shape.base] && c.shape.base != "find" && c.shape.base != "fd":
		return dangerRemoves
	case downloaders[c.shape.base]:
		return dangerSends
	}
	return ""
}

// lastIsPattern reports whether the rule names nothing but a program and options before its last, open word.
func (c *compiledRule) lastIsPattern() bool {
	return c.kind == kindGlob && len(c.shape.operands) == 1 && strings.Trim(c.words[len(c.words)-1].text, "*./") == ""
}

// A file with such a name is not meant by a rule unless the rule means any.
const anyName = "zq7-any"

// outsidePaths are files that no rule about a project means.
func outsidePaths(at ExamplePlace) []string {
	if at.Platform.IsWindows() {
		return []string{`C:\` + anyName, `C:\Windows\` + anyName, at.Home + `\` + anyName}
	}
	return []string{"/" + anyName, "/etc/" + anyName, "/usr/bin/" + anyName, at.Home + "/" + anyName}
}

// secretPaths are files that hold credentials.
func secretPaths(at ExamplePlace) []string {
	slash := "/"
	if at.Platform.IsWindows() {
		slash = `\`
	}
	return []string{at.Home + slash + ".ssh" + slash + "id_" + anyName, at.Home + slash + ".aws" + slash + anyName}
}

// grantsAny reports whether an allow rule covers one of the paths.
func grantsAny(c *compiledRule, at ExamplePlace, paths []string) bool {
	form := c.anchor(at.paths(), false)
	for _, path := range paths {
		if form.matches(matchKey(at.Platform, path)) {
			return true
		}
	}
	return false
}

// paths is where path rules are anchored at the place.
func (at ExamplePlace) paths() pathContext {
	pc := pathContext{platform: at.Platform, roots: []string{matchKey(at.Platform, at.Root)}}
	if at.Home != "" {
		pc.home = matchKey(at.Platform, at.Home)
	}
	return pc
}

// Why a rule most likely matches nothing.
const (
	neverUnknownTool = "unknown_tool" // counts only for a tool of exactly that name
	neverWindowsPath = "windows_path" // elsewhere it is a strange relative path
	neverUpwards     = "upwards"      // ".." below "**": paths are compared without ".."
	neverVariable    = "variable"     // nothing expands $HOME in a rule
	neverOperator    = "operator"     // a rule is about one command
	neverURL         = "url"          // an address where a path or a command belongs
)

var (
	drivePath    = regexp.MustCompile(`^([A-Za-z]:[/\\]|\\\\)`)
	variablePath = regexp.MustCompile(`^(\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|%[A-Za-z_]+%)([/\\]|$)`)
	urlText      = regexp.MustCompile(`^https?://`)
)

// neverMatches says why a rule, as it is written, will hardly match anything, and which part of it that is about.
func neverMatches(r *SourcedRule, at ExamplePlace) (why, what string) {
	c := r.Rule.c
	if !KnownTool(r.Rule.tool) {
		return neverUnknownTool, r.Rule.tool
	}
	switch c.kind {
	case kindPath:
		return neverPath(c, r.List != ListAllow, at)
	case kindPrefix, kindGlob, kindExact:
		if c.kind == kindExact && r.List != ListAllow {
			return "", "" // it is also compared with the whole text
		}
		for _, word := range strings.Fields(r.Rule.content) {
			if shellOperator(word) {
				return neverOperator, word
			}
		}
	}
	return "", ""
}

func neverPath(c *compiledRule, generous bool, at ExamplePlace) (why, what string) {
	if start := drivePath.FindString(c.pattern); start != "" && !at.Platform.IsWindows() {
		return neverWindowsPath, start
	}
	if start := variablePath.FindStringSubmatch(c.pattern); start != nil {
		return neverVariable, start[1]
	}
	if urlText.MatchString(c.pattern) {
		return neverURL, c.pattern
	}
	form := c.anchor(at.paths(), generous)
	for _, pattern := range form.patterns {
		if !strings.Contains("/"+pattern+"/", "/../") {
			return "", ""
		}
	}
	if len(form.patterns) > 0 {
		return neverUpwards, c.pattern
	}
	return "", ""
}

// shellOperator reports whether a word that stands without quotes ends a command for the shell.
func shellOperator(word string) bool {
	switch word {
	case "&&", "||", "|", "|&", ";", "&", ">", ">>", "<", "<<", "<<<", "2>", "&>", "2>&1":
		return true
	}
	return len(word) > 1 && strings.HasSuffix(word, ";") && !strings.ContainsAny(word, `'"\`)
}
