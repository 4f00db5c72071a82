package policy

import (
	"strconv"
	"strings"
)

// safeSpec is one program whose described use only reads. What is not described is not safe: an option that is missing
// here, an abbreviation, an unknown word.
type safeSpec struct {
	short    string // letters without a value
	shortArg string // letters with a value, attached or next
	shortOpt string // letters with an optional attached value: the rest of the word
	single   bool   // letters do not cluster: "-ps" is another option than "-p -s" (xxd)
	long     string // long options: "name", "name=" with a value (attached or next), "name?" with an optional attached one
	number   bool   // -5 is a count
	texts    int    // operands that are text before the paths start
	noText   string // options that take the place of the first text operand (grep -e)
	paths    int    // how many path operands may follow; -1 any number
	words    bool   // operands are text of any kind and are not looked at (echo)
	names    bool   // operands are names of commands or users
	min      int    // operands needed
	pure     bool   // prints its words: unknown words that tell no secret may stand in it
	numbers  bool   // operands are numbers: one that the shell makes may stand in it
	check    func(x *analysis, c *command, operands []word, flags []string) string
}

// safeReads is the table of safe commands (policy.md, section 6). Each row is anchored by tests, and every way out that is
// known for one of these programs has a test that it is not safe.
var safeReads = map[string]*safeSpec{
	"ls": {short: "1aAbBcCdfFgGhHiIklmnNopqQrRsStuUvxXZ", shortArg: "wTI", paths: -1,
		long: "all almost-all author escape block-size= ignore-backups color? directory classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line hide= hyperlink? indicator-style= inode ignore= kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero"},
	"cat":      {short: "AbeEnstTuv", long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting", paths: -1},
	"tac":      {short: "br", shortArg: "s", long: "before regex separator=", paths: -1},
	"nl":       {short: "p", shortArg: "bdfhilnsvw", long: "body-numbering= number-width= starting-line-number= number-format= number-separator=", paths: -1},
	"head":     {short: "qv", shortArg: "cn", number: true, long: "bytes= lines= quiet silent verbose", paths: -1},
	"tail":     {short: "qv", shortArg: "cn", number: true, long: "bytes= lines= quiet silent verbose", paths: -1},
	"wc":       {short: "clLmw", long: "bytes chars lines max-line-length words total=", paths: -1},
	"rev":      {paths: -1},
	"pwd":      {short: "LP", long: "logical physical"},
	"echo":     {words: true, pure: true, paths: -1, check: echoOnly},
	"printf":   {words: true, pure: true, min: 1, check: printfOnly},
	"true":     {words: true},
	"false":    {words: true},
	":":        {words: true},
	"test":     {words: true, check: testOnly},
	"[":        {words: true, check: testOnly},
	"[[":       {words: true, check: testOnly},
	"which":    {short: "as", names: true, min: 1, paths: -1},
	"type":     {short: "aptP", names: true, min: 1, paths: -1},
	"date":     {short: "uR", shortOpt: "I", shortArg: "d", long: "utc universal rfc-email iso-8601? date= rfc-3339=", words: true, check: dateOnly},
	"uname":    {short: "asnrvmpio", long: "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system"},
	"whoami":   {},
	"id":       {short: "agGnruzZ", long: "group groups name real user zero context", names: true, paths: 1},
	"groups":   {names: true, paths: 1},
	"hostname": {short: "fisAId"},
	"arch":     {},
	"nproc":    {long: "all ignore="},
	"uptime":   {short: "ps", long: "pretty since"},
	"tty":      {short: "s", long: "silent quiet"},
	"locale":   {short: "ack", long: "all-locales charmaps"},
	"cal":      {short: "13jmsy", words: true},
	"seq":      {shortArg: "fs", short: "w", long: "equal-width separator= format=", words: true, numbers: true, min: 1, check: numbersOnly},
	"sleep":    {words: true, numbers: true, min: 1, check: numbersOnly},
	"stat":     {short: "fLtx", shortArg: "c", long: "dereference file-system format= printf= terse", paths: -1, min: 1},
	"file":     {short: "bhiLkN0", long: "brief mime mime-type mime-encoding dereference no-dereference no-pad", paths: -1, min: 1},
	"du":       {short: "abchklmsSx0", shortArg: "dB", long: "all bytes total human-readable max-depth= summarize one-file-system apparent-size block-size= si separate-dirs time?", paths: -1},
	"df":       {short: "ahHiklmPT", shortArg: "Bt", long: "all human-readable inodes local portability print-type total type= si block-size= output?", paths: -1},
	"basename": {short: "az", shortArg: "s", long: "multiple suffix= zero", words: true, min: 1},
	"dirname":  {short: "z", long: "zero", words: true, min: 1},
	"realpath": {short: "emLPqsz", long: "canonicalize-existing canonicalize-missing quiet strip no-symlinks zero relative-to= relative-base=", paths: -1, min: 1},
	"readlink": {short: "femnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline", paths: -1, min: 1},
	"sort":     {short: "bdfgiMhnRrVcCmsuz", shortArg: "kSt", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort reverse version-sort check? merge stable unique zero-terminated key= field-separator= parallel= buffer-size=", paths: -1},
	"uniq":     {short: "cdDiuz", shortArg: "fsw", long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars= zero-terminated all-repeated?", paths: 1},
	"cut":      {short: "nsz", shortArg: "bcdf", long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated", paths: -1},
	"tr":       {short: "cCdst", long: "complement delete squeeze-repeats truncate-set1", words: true, min: 1},
	"paste":    {short: "sz", shortArg: "d", long: "delimiters= serial zero-terminated", paths: -1},
	"comm":     {short: "123z", long: "check-order nocheck-order output-delimiter= total zero-terminated", paths: 2},
	"join":     {short: "iz", shortArg: "12aejotv", paths: 2},
	"column":   {short: "tnxLeR", shortArg: "cosN", long: "table separator= output-separator= table-columns=", paths: -1},
	"fold":     {short: "bs", shortArg: "w", long: "bytes spaces width=", paths: -1},
	"expand":   {short: "i", shortArg: "t", paths: -1},
	"diff":     {short: "abBcdeEfilnNpqrstTuwyZ", shortArg: "CUWIF", long: "brief report-identical-files unified? context? side-by-side width= ignore-case ignore-all-space ignore-space-change ignore-blank-lines ignore-trailing-space text minimal color? label= new-file suppress-common-lines normal recursive", paths: 2, min: 2, check: noRecursion},
	"cmp":      {short: "bls", shortArg: "in", long: "print-bytes verbose quiet silent bytes= ignore-initial=", paths: 2, min: 1},
	"grep":     {short: "abcEFGhHiIlLnoPqrRsTUvVwxyzZ0", shortArg: "ABCem", number: true, texts: 1, noText: "-e --regexp", paths: -1, long: grepLong, check: searches},
	"egrep":    {short: "abchHiIlLnoqrRsvwxz", shortArg: "ABCem", number: true, texts: 1, noText: "-e --regexp", paths: -1, long: grepLong, check: searches},
	"fgrep":    {short: "abchHiIlLnoqrRsvwxz", shortArg: "ABCem", number: true, texts: 1, noText: "-e --regexp", paths: -1, long: grepLong, check: searches},
	"rg": {short: "acFhHiIlLnNopPqsSUvVwxu.", shortArg: "ABCegjmMtTdr", texts: 1, noText: "-e --regexp --files --type-list --version", paths: -1, check: ripgrep,
		long: "after-context= before-context= context= count count-matches fixed-strings files files-with-matches files-without-match glob= iglob= hidden ignore-case smart-case case-sensitive invert-match line-number no-line-number line-regexp word-regexp max-count= max-depth= max-columns= multiline no-heading heading no-filename with-filename null only-matching pcre2 passthru pretty quiet regexp= replace= sort= sortr= stats text trim type= type-not= type-list color= colors= column no-column vimgrep json version max-filesize= no-messages"},
	"find":      {check: findReads, words: true},
	"tree":      {short: "adfipsughDFrtcvUAnNC", shortArg: "LIP", long: "dirsfirst du gitignore prune si noreport filesfirst inodes device", paths: -1},
	"md5sum":    {short: "btz", long: "binary text tag zero", paths: -1, min: 1},
	"sha1sum":   {short: "btz", long: "binary text tag zero", paths: -1, min: 1},
	"sha256sum": {short: "btz", long: "binary text tag zero", paths: -1, min: 1},
	"sha512sum": {short: "btz", long: "binary text tag zero", paths: -1, min: 1},
	"cksum":     {paths: -1, min: 1},
	"od":        {short: "abcdfilosxv", shortArg: "AjNt", shortOpt: "w", paths: -1, min: 1},
	"hexdump":   {short: "bcCdovx", shortArg: "ns", paths: -1, min: 1},
	"xxd":       {short: "abiuEep", shortArg: "cgls", single: true, paths: 1, min: 1},
	"strings":   {short: "afo", shortArg: "nt", paths: -1, min: 1},
	"jq":        {short: "acCeMnrRsSj", long: "ascii-output compact-output color-output monochrome-output exit-status null-input raw-input raw-output slurp sort-keys tab join-output indent=", texts: 1, paths: -1, check: jqFilter},
	"cd":        {check: func(*analysis, *command, []word, []string) string { return "" }, words: true},
	"git":       {check: gitReads, words: true},
	"command":   {check: commandQuery, words: true},
	"sed":       {short: "nErsuz", shortArg: "e", long: "quiet silent regexp-extended separate unbuffered null-data expression=", texts: 1, noText: "-e --expression", paths: -1, check: sedPrints},
	"exit":      {words: true, numbers: true, check: numbersOnly},
	"set":       {words: true, check: setOptions},
	"node":      {words: true, check: versionOnly}, "python": {words: true, check: versionOnly},
	"npm":     {words: true, check: versionOnly},
	"python3": {words: true, check: versionOnly}, "ruby": {words: true, check: versionOnly},
	"gcc": {words: true, check: versionOnly}, "g++": {words: true, check: versionOnly},
	"clang": {words: true, check: versionOnly}, "make": {words: true, check: versionOnly},
	"cmake": {words: true, check: versionOnly}, "docker": {words: true, check: versionOnly},
	"bash": {words: true, check: versionOnly}, "perl": {words: true, check: versionOnly},
	"curl": {words: true, check: versionOnly}, "java": {words: true, check: versionOnly},
}

const grepLong = "after-context= before-context= context? basic-regexp extended-regexp fixed-strings perl-regexp regexp= " +
	"ignore-case no-ignore-case invert-match word-regexp line-regexp count color? colour? files-with-matches " +
	"files-without-match max-count= only-matching quiet silent no-messages byte-offset with-filename no-filename label= " +
	"line-number initial-tab null text binary-files= include= exclude= exclude-dir= recursive dereference-recursive " +
	"null-data line-buffered version"

// judgeSafety decides for every command whether it is a safe read.
func (x *analysis) judgeSafety() {
	for _, c := range x.f.commands {
		if c.denyOnly || c.unsafe != "" {
			continue
		}
		if len(c.words) == 0 {
			continue // assignments are judged where they are covered
		}
		c.unsafe = x.whyUnsafe(c)
	}
	for _, c := range x.f.commands {
		if x.f.carries == "" && !c.denyOnly {
			x.f.carries = c.carries()
		}
	}
	x.possibleAccesses()
	x.distinctAccesses()
}

// distinctAccesses lists the accesses without repetitions, so that a text that names one path a thousand times is compared
// with every rule once.
func (x *analysis) distinctAccesses() {
	type identity struct {
		lexical, resolved, pattern, text string
		flags                            [6]bool
	}
	seen := map[identity]bool{}
	x.f.distinct = []int{}
	for i := range x.f.accesses {
		a := &x.f.accesses[i]
		id := identity{a.lexical, a.resolved, a.pattern, a.text, [6]bool{a.write, a.recursive, a.skipHidden, a.dynamic, a.denyOnly, a.globbed}}
		if !seen[id] {
			seen[id] = true
			x.f.distinct = append(x.f.distinct, i)
		}
	}
}

// whyUnsafe says why a command is not a safe read, or "".
func (x *analysis) whyUnsafe(c *command) string {
	if c.wrap != wrapNone {
		return "runs another command"
	}
	if c.opaque != "" {
		return c.opaque
	}
	spec := safeReads[c.name]
	if c.leaks {
		return "a variable in its input"
	}
	if spec == nil || c.function {
		return "not a known reading command"
	}
	if c.name == "cd" {
		if c.chdir != cdInside {
			return c.chdir
		}
		return ""
	}
	for _, w := range c.words[1:] {
		switch {
		case w.glob:
			return "a pattern that the shell expands"
		case strings.HasPrefix(w.text, "=") && !w.quoted && len(w.text) > 1 && w.text != "==":
			return "a word that zsh expands"
		case w.known && !w.assumed:
		case spec.pure && !w.wild:
		case spec.numbers && w.tame && !w.wild:
		default:
			return "a word that is not known"
		}
	}
	if spec.plainVersion(c.words) {
		return ""
	}
	operands, flags, why := spec.parse(c.words[1:])
	if why != "" {
		return why
	}
	if len(operands) < spec.min {
		return "too few operands"
	}
	if spec.check != nil {
		if why := spec.check(x, c, operands, flags); why != "" {
			return why
		}
	}
	for _, i := range c.accesses {
		a := &x.f.accesses[i]
		if a.denyOnly {
			continue // a possible reading, for deny and ask rules
		}
		if why := a.whyUnreadable(); why != "" {
			return why
		}
	}
	return ""
}

// whyUnreadable says why reading this path is not safe, or "". Redirections that write are judged where they are covered.
func (a *access) whyUnreadable() string {
	switch {
	case a.write:
		if a.redirect {
			return ""
		}
		return "writes " + a.text
	case a.dynamic || a.globbed || a.assumed:
		return "a path that is not known"
	case a.refused != "":
		return "a path that must not be touched (" + a.refused + ")"
	case a.odd != "" && a.oddRead:
		return "a path that can be read in two ways (" + a.odd + ")"
	case !a.inside:
		return "outside the roots"
	case a.secret != "":
		return "secret material (" + a.secret + ")"
	}
	return ""
}

// plainVersion reports whether the command only asks a known program for its version.
func (s *safeSpec) plainVersion(words []word) bool {
	return len(words) == 2 && words[1].literal() && words[1].text == "--version" && !s.words
}

// parse validates the options and returns the operands and the flags. A flag is one option, out of its cluster, with its
// value behind a "=" if it takes one: -ie x is "-i" and "-e=x".
func (s *safeSpec) parse(words []word) (operands []word, flags []string, why string) {
	if s.words && s.check != nil && s.short == "" && s.long == "" && s.shortArg == "" {
		return words, nil, "" // the check reads the words itself
	}
	options := true
	for i := 0; i < len(words); i++ {
		text := words[i].text
		if !options || len(text) < 2 || text[0] != '-' {
			operands = append(operands, words[i])
			continue
		}
		if text == "--" {
			options = false
			continue
		}
		found, taken, ok := s.option(text, i+1 < len(words))
		if !ok {
			return nil, nil, "option " + text
		}
		if taken {
			i++
			if !words[i].known {
				return nil, nil, "option " + text + " with a value that is not known"
			}
			found[len(found)-1] += "=" + words[i].text
		}
		flags = append(flags, found...)
	}
	return operands, flags, s.count(operands, flags)
}

// files returns the operands that are paths, of those that parse found.
func (s *safeSpec) files(operands []word, flags []string) []word {
	if s.words || s.names {
		return nil
	}
	if s.texts > 0 && !hasFlag(flags, s.noText) {
		operands = operands[min(s.texts, len(operands)):]
	}
	return operands
}

// count checks how many operands there are and of what kind.
func (s *safeSpec) count(operands []word, flags []string) string {
	if s.words {
		return ""
	}
	if s.names {
		for _, w := range operands {
			if w.text == "" || strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") != "" {
				return "not a plain name"
			}
		}
		if s.paths >= 0 && len(operands) > s.paths {
			return "too many operands"
		}
		return ""
	}
	if s.paths >= 0 && len(s.files(operands, flags)) > s.paths {
		return "too many operands"
	}
	return ""
}

// option takes a single option word apart, if it is described, and says whether it takes the next word.
func (s *safeSpec) option(text string, more bool) (flags []string, taken, ok bool) {
	if long, ok := strings.CutPrefix(text, "--"); ok {
		name, _, attached := strings.Cut(long, "=")
		switch {
		case listed(s.long, name):
			return []string{text}, false, !attached
		case listed(s.long, name+"?"):
			return []string{text}, false, true
		case listed(s.long, name+"="):
			return []string{text}, !attached, attached || more
		}
		return nil, false, false
	}
	if s.number && strings.Trim(text[1:], "0123456789") == "" {
		return []string{text}, false, true
	}
	if s.single && len(text) > 2 && (strings.IndexByte(s.shortArg, text[1]) < 0 || strings.Trim(text[2:], "0123456789") != "") {
		return nil, false, false
	}
	for j := 1; j < len(text); j++ {
		flag := "-" + text[j:j+1]
		switch {
		case strings.IndexByte(s.shortOpt, text[j]) >= 0:
			return append(flags, flag+"="+text[j+1:]), false, true
		case strings.IndexByte(s.shortArg, text[j]) >= 0:
			if j < len(text)-1 {
				return append(flags, flag+"="+text[j+1:]), false, true
			}
			return append(flags, flag), true, more
		case strings.IndexByte(s.short, text[j]) < 0:
			return nil, false, false
		}
		flags = append(flags, flag)
	}
	return flags, false, true
}

// hasFlag reports whether one of the options stands among the flags that parse found.
func hasFlag(flags []string, list string) bool {
	for want := range strings.FieldsSeq(list) {
		for _, flag := range flags {
			if name, _, _ := strings.Cut(flag, "="); name == want {
				return true
			}
		}
	}
	return false
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimRight(text, "smhd"), 64)
	return err == nil
}
