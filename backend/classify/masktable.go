package classify

import (
	"regexp"
	"strings"
)

// What a mask may hide consists of these characters alone. None of them means anything to a shell or begins a string or
// a call in a programming language, so that no mask hides what a text does.
const plain = `A-Za-z0-9_.~+/=%!^*,:?#@-`

// Names beside which a credential stands: password, DB_PASSWORD, apiKey, client-secret, SECRET_KEY_BASE, token2.
const names = `(?i:[a-z0-9_.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)` +
	`(?:[_-]?(?:key|value|base|[0-9]{1,3})){0,2})`

// shape is a credential that is known by its form. The group is what is masked.
type shape struct {
	kind string
	form *regexp.Regexp
}

// shapes are looked for everywhere, in this order.
var shapes = []shape{
	{"private_key", regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----((?:` + lineEnd + `[A-Za-z0-9+/=]{16,})*` + lineEnd + `[A-Za-z0-9+/=]{4,}` + lineEnd + `)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)},
	{"github_token", regexp.MustCompile(`(gh[opusr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})`)},
	{"gitlab_token", regexp.MustCompile(`(gl(?:pat|dt|rt|ptt|cbt|ft|soat)-[A-Za-z0-9_.-]{16,})`)},
	{"api_key", regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,})`)},
	{"aws_key_id", regexp.MustCompile(`\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})`)},
	{"slack_token", regexp.MustCompile(`(xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})`)},
	{"google_key", regexp.MustCompile(`(AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,})`)},
	{"registry_token", regexp.MustCompile(`(npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,})`)},
	{"jwt", regexp.MustCompile(`(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)`)},
	{"authorization", regexp.MustCompile(`(?i:authorization)(?:\\*["'])?[ \t]*[:=][ \t]*(?:\\*["'])?(?i:(?:bearer|basic|token|apikey|digest)[ \t]+)([A-Za-z0-9._~+/=-]+)`)},
	{"authorization", regexp.MustCompile(`(?i:\bbearer[ \t]+)([A-Za-z0-9._~+/=-]{16,})`)},
	{"url_login", regexp.MustCompile(`://([A-Za-z0-9_.~+=%!^*,-]*:[A-Za-z0-9_.~+=%!^*,:-]+)@`)},
	{"url_login", regexp.MustCompile(`://([A-Za-z0-9_.~+=%-]{16,})@`)},
	{"login", regexp.MustCompile(`(?:^|[\s"'])(?:-u|--user|--proxy-user)(?:[ \t=]|[ \t]*["'])["']?([A-Za-z0-9_.~+%@-]+:[0-9]*[A-Za-z~+=%!^*,?#@-][A-Za-z0-9_.~+/=%!^*,:?#@-]*)`)},
}

// lineEnd is a line end, as it is or as an escape in a string of a programming language.
const lineEnd = `(?:\\r|\\n|\r|\n)+`

var (
	// assigned finds a name with a value: name=value, name = value, name: value, "name": "value". Without a space before it
	// "=" takes none behind it: in a shell what follows that space is a program. The groups are the quote and the value.
	assigned = regexp.MustCompile(names + `(?:\\*["'])?(?:[ \t]*(?::=|=>|:)[ \t]*|==?|[ \t]+==?[ \t]*)(\\*["'])?([` + plain + `]+)`)

	// option finds an option of a secret name with its value as the next word.
	option = regexp.MustCompile(`(?:^|[\s"'])--?` + names + `(?:\\*["'])?[ \t,]+(\\*["'])?([` + plain + `]+)`)

	// beside finds a long value behind a name and a space. Whether it is a credential, its letters say (random).
	beside = regexp.MustCompile(names + `(?:\\*["'])?[ \t]+(\\*["'])?([` + plain + `]{16,})`)

	// header finds an Authorization header without a scheme.
	header = regexp.MustCompile(`(?i:authorization)(?:\\*["'])?[ \t]*[:=][ \t]*(\\*["'])?([` + plain + `]{16,})`)

	// maskedProgram is a simple command whose program is masked, behind assignments or not.
	maskedProgram = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*\+?=\S* )*\[masked:`)

	// optionName is an option of a secret name alone, as a word of a list.
	optionName = regexp.MustCompile(`^--?` + names + `$`)
	secretName = regexp.MustCompile(`^(?:` + names + `|(?i:(?:proxy-)?authorization))$`)
	wholeValue = regexp.MustCompile(`^(?:(?i:bearer|basic|token|apikey|digest)[ \t]+)?([` + plain + `]+)$`)

	// keyBegins and loginLeft are what must not be left: a private key or a login whose end was not found.
	keyBegins = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[^\[]|$)`)
	loginLeft = regexp.MustCompile(`://[^\s/"'<>@:\[]*:[^\s/"'<>@:\[{$][^\s/"'<>@]*@`)
)

// shownPath reports whether a value is a path or a file reference (curl's @file). It is shown: a path is no credential, and
// what is done to it matters.
func shownPath(value string) bool {
	for _, prefix := range []string{"@", "~", "./", "../"} {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	return absolutePath.MatchString(value)
}

var absolutePath = regexp.MustCompile(`^/[a-z][a-z0-9_.-]*(?:/|$)`)

// random reports whether a value has the letters of a generated credential: long, with capitals, small letters and digits,
// or with digits all through small letters, as in hexadecimal.
func random(value string) bool {
	var upper, lower, digits, changes int
	before := byte(0)
	for i := range len(value) {
		kind := byte(0)
		switch c := value[i]; {
		case c >= 'A' && c <= 'Z':
			upper++
			kind = 'A'
		case c >= 'a' && c <= 'z':
			lower++
			kind = 'a'
		case c >= '0' && c <= '9':
			digits++
			kind = '0'
		default:
			continue
		}
		if kind != before {
			changes++
		}
		before = kind
	}
	if len(value) < 16 || digits < 2 || upper+lower < 2 || 4*(upper+lower+digits) < 3*len(value) {
		return false
	}
	return changes >= len(value)/5
}
