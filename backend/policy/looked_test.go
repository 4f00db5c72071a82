package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/backend/pathid"
)

// countingFS counts how often an examination asks the filesystem.
type countingFS struct {
	pathid.FS
	dirs, files int
}

func (c *countingFS) ReadDir(name string, limit int) ([]string, error) {
	c.dirs++
	return c.FS.ReadDir(name, limit)
}

func (c *countingFS) ReadFile(name string, limit int64) ([]byte, error) {
	c.files++
	return c.FS.ReadFile(name, limit)
}

// A text that named one tree two hundred times walked it two hundred times: twelve seconds for what fits one line. Every
// directory, pattern and repository is looked at once in one examination, however often the text names it.
func TestExaminationLooksOnce(t *testing.T) {
	work := func(text string) countingFS {
		m := NewMemoryFS(pathid.Linux)
		m.File("/home/u/w/.git/config", "[core]\n\tbare = false\n")
		for _, name := range []string{"a/x", "a/y", "b/z", "b/c/d"} {
			m.File("/home/u/w/"+name, "x")
		}
		view := &countingFS{FS: m}
		args, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		Examine(Call{Tool: "Bash", Args: args, Cwd: "/home/u/w", Roots: []string{"/home/u/w"}, Home: "/home/u", Platform: pathid.Linux}, view)
		return *view
	}
	for _, unit := range []string{"grep -r x .;", "rg x;", "cat */*;", "ls */*/* */*;", "git status;", "cp -r a c;", "mytool a*;"} {
		once, often := work(unit), work(strings.Repeat(unit, 50))
		if once.dirs+once.files == 0 {
			t.Errorf("%q looks at nothing", unit)
		}
		if often.dirs > once.dirs || often.files > once.files {
			t.Errorf("%q fifty times reads %d directories and %d files, once %d and %d", unit, often.dirs, often.files, once.dirs, once.files)
		}
	}
}

// A rule with eight stars against a text of thirty thousand words took longer than anyone waits, since every star tried
// every length. The table that replaced it gives the same answers as the plain definition.
func TestGlobWordsFollowsItsDefinition(t *testing.T) {
	var define func(rule []ruleWord, words []word, generous bool) match
	define = func(rule []ruleWord, words []word, generous bool) match {
		switch {
		case len(rule) == 0 && len(words) == 0:
			return matchYes
		case len(rule) == 0:
			return matchNo
		case rule[0].rest && len(rule) == 1:
			return matchYes
		case rule[0].rest:
			best := matchNo
			for i := range len(words) + 1 {
				best = max(best, define(rule[1:], words[i:], generous))
			}
			return best
		case len(words) == 0:
			return matchNo
		}
		this := globWord(rule[0], words[0], generous)
		if len(rule) == 1 && strings.HasSuffix(rule[0].glob, "*") && !strings.HasSuffix(rule[0].glob, `\*`) {
			return this
		}
		return min(this, define(rule[1:], words[1:], generous))
	}
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SliceOfN(rapid.SampledFrom([]ruleWord{
			{text: "a"}, {text: "b"}, {text: "*", rest: true}, {text: "a*", glob: "a*"}, {text: "?", glob: "?"},
		}), 0, 6).Draw(t, "rule")
		words := rapid.SliceOfN(rapid.SampledFrom([]word{
			lit("a"), lit("b"), lit("ab"), {many: true}, {text: "a*", known: true, glob: true, pattern: "a*"},
		}), 0, 7).Draw(t, "words")
		generous := rapid.Bool().Draw(t, "generous")
		if got, want := globWords(rule, words, generous), define(rule, words, generous); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
	var long []word
	for range maxGlobCells {
		long = append(long, lit("a"))
	}
	rule := []ruleWord{{text: "a"}, {text: "*", rest: true}, {text: "b"}}
	if globWords(rule, long, true) != matchMaybe || globWords(rule, long, false) != matchNo {
		t.Error("beyond the budget a deny rule may match and an allow rule does not")
	}
}

// What a sed script may hold without writing a file or running a program. The flags e and w of s and the commands e, r, R,
// w and W hid behind a rule for "sed -n".
func TestPlainSed(t *testing.T) {
	for script, want := range map[string]bool{
		"p": true, "1,5p": true, "$p": true, "/x/p": true, "/x/,/y/d": true, "s/a/b/": true, "s/a/b/gI": true, "s#a#b#2;p": true,
		"/x/{s/a/b/;p}": true, "y/ab/cd/": true, "s/[0-9]/x/": true, "1~2d": true, "/x/!d": true, "5q": true, "/x/a text": true,
		`s/\//x/`: true, "": true, "$!N;s/\\n/ /": true,
		"1e id": false, "e": false, "w x": false, "1w x": false, "r x": false, "R x": false, "W x": false, "s/a/b/e": false,
		"s/a/b/w x": false, "s/a/b/gw x": false, "/x/{w y\n}": false, "p;e id": false, "p\ne id": false, `1a\`: false, "1a": false,
		"a x\ne id": false, "s/[/]/e": false, "s/a/b": false, `s\a\b\e`: false, "sab/e": false, "b;e": false, ": x": false, "#x\ne": false,
		"s/a/b/;w x": false, `\%x%w y`: false, "s[a[b[": false, "{e id": false, "v\ne id": false, "1!e id": false, "s/a/b/ e": false,
	} {
		if got := plainSed(script); got != want {
			t.Errorf("plainSed(%q) = %v", script, got)
		}
	}
}

// The table of safe reads and the table of usages once disagreed about which options take a value: cat -n .env lost its
// file. A program whose safe reading takes paths must have them looked at.
func TestSafeReadsHaveTheirPathsLookedAt(t *testing.T) {
	for name, spec := range safeReads {
		if spec.words || spec.names || spec.paths == 0 {
			continue
		}
		words := []string{name}
		if spec.texts > 0 {
			words = append(words, ".")
		}
		for range max(spec.min, 1) {
			words = append(words, ".env")
		}
		for _, option := range append([]string{""}, strings.Split(spec.short, "")...) {
			text := strings.Join(words, " ")
			if option != "" {
				text = name + " -" + option + strings.TrimPrefix(text, name)
			}
			f := examineText(t, text)
			found := false
			for _, path := range f.Reads() {
				found = found || path == "/home/u/w/.env"
			}
			if !found {
				t.Errorf("%q does not count as a read of .env", text)
			}
			if v := decideText(t, text, ModeAsk); v.Outcome == Allow {
				t.Errorf("%q is a safe read", text)
			}
		}
	}
}
