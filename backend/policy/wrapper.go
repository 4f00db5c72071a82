package policy

import (
	"strings"
)

// wrapper describes how a program that runs another program writes its own options, so that the inner command is found.
type wrapper struct {
	kind     wrapKind
	flags    string // letters without a value
	values   string // letters with a value, in the same word or the next
	long     string // long options without a value, space-separated
	longArg  string // long options with a value
	operands int    // words before the command: timeout DURATION
	number   bool   // those words start with a digit; what does not is read in another way by some versions
	attached string // letters whose value, if there is one, stands in the same word: xargs -l
	vague    bool   // where the command starts depends on the version: setarch -R rm
	assigns  string // NAME=value may stand before the command; a word with "=" that begins with one of these is none
	dash     bool   // a lone dash is an option, and the last: env - ls
	minus    bool   // a bare number option: nice -10
}

// wrappers is the table of policy.md, section 5. A program that forwards its arguments and is missing here is caught by
// the words of a denied command in its arguments (mayRunDenied): that asks.
var wrappers = map[string]*wrapper{
	"env": {kind: wrapTransparent, flags: "iv0", values: "uSC", long: "--ignore-environment --null --debug",
		longArg: "--unset --split-string --chdir", assigns: "\x00", dash: true},
	"nohup":      {kind: wrapTransparent},
	"nice":       {kind: wrapTransparent, values: "n", longArg: "--adjustment", minus: true},
	"ionice":     {kind: wrapTransparent, flags: "t", values: "cnpPu", long: "--ignore", longArg: "--class --classdata"},
	"chrt":       {kind: wrapTransparent, flags: "abfiomrRdv", values: "TPD", operands: 1, number: true},
	"taskset":    {kind: wrapTransparent, flags: "ac", operands: 1, number: true, long: "--all-tasks --cpu-list"},
	"timeout":    {kind: wrapTransparent, flags: "vfp", values: "ks", long: "--preserve-status --foreground --verbose", longArg: "--kill-after --signal", operands: 1, number: true},
	"gtimeout":   {kind: wrapTransparent, flags: "vfp", values: "ks", long: "--preserve-status --foreground --verbose", longArg: "--kill-after --signal", operands: 1, number: true},
	"time":       {kind: wrapTransparent, flags: "pvqaV", values: "fo", long: "--portability --verbose --quiet --append", longArg: "--format --output"},
	"gtime":      {kind: wrapTransparent, flags: "pvqaV", values: "fo", long: "--portability --verbose --quiet --append", longArg: "--format --output"},
	"stdbuf":     {kind: wrapTransparent, values: "ioe", longArg: "--input --output --error"},
	"setsid":     {kind: wrapTransparent, flags: "cfw", long: "--ctty --fork --wait"},
	"command":    {kind: wrapTransparent, flags: "p"},
	"builtin":    {kind: wrapTransparent},
	"exec":       {kind: wrapTransparent, flags: "cl", values: "a"},
	"busybox":    {kind: wrapTransparent},
	"toybox":     {kind: wrapTransparent},
	"caffeinate": {kind: wrapTransparent, flags: "disum", values: "tw"},
	"unbuffer":   {kind: wrapTransparent, flags: "p"},
	"setarch":    {kind: wrapTransparent, vague: true},
	"linux64":    {kind: wrapTransparent, flags: "BFILRSTXZ3v"},
	"prlimit":    {kind: wrapTransparent, flags: "cdefilmnqrstuvxy"},
	"noglob":     {kind: wrapTransparent},
	"nocorrect":  {kind: wrapTransparent},
	"coproc":     {kind: wrapTransparent},

	"sudo": {kind: wrapElevate, flags: "ABbEeHiKklNnPSsVv", values: "CDghpRrTtUu", assigns: "=/",
		long:    "--askpass --bell --background --edit --set-home --login --remove-timestamp --reset-timestamp --no-update --non-interactive --preserve-groups --stdin --shell --validate --preserve-env",
		longArg: "--close-from --chdir --group --host --prompt --chroot --role --command-timeout --type --other-user --user"},
	"doas":        {kind: wrapElevate, flags: "Lns", values: "aCu"},
	"pkexec":      {kind: wrapElevate, long: "--disable-internal-agent --keep-cwd", longArg: "--user"},
	"run0":        {kind: wrapElevate, longArg: "--user --unit --chdir --property --setenv"},
	"gosu":        {kind: wrapElevate, operands: 1},
	"su-exec":     {kind: wrapElevate, operands: 1},
	"setpriv":     {kind: wrapElevate, flags: "dh", longArg: "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig", long: "--nnp --no-new-privs --clear-groups --keep-groups --init-groups --reset-env"},
	"chroot":      {kind: wrapElevate, longArg: "--groups --userspec", long: "--skip-chdir", operands: 1},
	"unshare":     {kind: wrapElevate, flags: "imnpuUCTfrc", values: "RwSG", long: "--fork --map-root-user --mount --net --pid --user --uts --ipc --cgroup --mount-proc"},
	"nsenter":     {kind: wrapElevate, flags: "amuinpCUTrwZFe", values: "tSG", longArg: "--target --setuid --setgid", long: "--all"},
	"systemd-run": {kind: wrapElevate, flags: "dqtPrG", values: "puEHMo", longArg: "--unit --property --description --slice --uid --gid --nice --working-directory --setenv --service-type", long: "--user --scope --pty --pipe --wait --quiet --collect --same-dir"},
	"strace":      {kind: wrapElevate, flags: "cCdDfFhiqrtTvVwxyYzZ", values: "abeEIoOpPsSuUX"},
	"ltrace":      {kind: wrapElevate, flags: "bcCfiLrStTV", values: "aADeFlnopsuwx"},

	"xargs": {kind: wrapFeed, flags: "0rtxpo", values: "aEdILnPsRSJ", attached: "eil", long: "--null --no-run-if-empty --verbose --exit --interactive --open-tty --show-limits --eof --replace --max-lines",
		longArg: "--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var"},
	"parallel": {kind: wrapFeed, flags: "0kqtuvXm", values: "ajnNLIPSsd", longArg: "--jobs --arg-file --delay --timeout --retries --colsep --results --joblog --max-args", long: "--null --keep-order --ungroup --bar --eta --progress --dry-run --line-buffer"},
	"watch":    {kind: wrapFeed, flags: "bcdegptwx", values: "n", longArg: "--interval", long: "--beep --color --differences --errexit --chgexit --precise --no-title --exec"},
}

// textRunners are the wrappers that have one option for a text to run and are else ordinary.
var textRunners = map[string]string{"su": "c", "runuser": "c", "flock": "c", "script": "c", "sg": "c", "newgrp": "c"}

// shells run a text or a file.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "mksh": true, "ash": true, "rbash": true,
	"fish": true, "csh": true, "tcsh": true, "yash": true, "posh": true, "oil": true, "osh": true, "elvish": true,
	"xonsh": true, "nu": true,
}

// bashLike are the shells whose texts the parser reads as they do.
var bashLike = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true, "rbash": true}

// interpreters run what they are given, in a language of their own.
var interpreters = map[string]bool{
	"python": true, "python2": true, "python3": true, "pypy": true, "pypy3": true, "node": true, "nodejs": true,
	"deno": true, "bun": true, "ruby": true, "perl": true, "php": true, "lua": true, "luajit": true, "Rscript": true,
	"R": true, "julia": true, "osascript": true, "tclsh": true, "wish": true, "expect": true, "awk": true, "gawk": true,
	"mawk": true, "nawk": true, "psql": true, "mysql": true, "sqlite3": true, "ghci": true, "scala": true,
	"groovy": true, "erl": true, "elixir": true, "iex": true, "ocaml": true, "guile": true, "racket": true,
	"sbcl": true, "clojure": true, "pwsh": true, "powershell": true, "cmd": true, "wscript": true, "cscript": true,
	"mshta": true, "ed": true, "ex": true, "vi": true, "vim": true, "at": true, "batch": true, "crontab": true,
	"gdb": true, "bc": true, "dc": true, "m4": true, "irb": true, "ts-node": true, "tsx": true, "swift": true,
	"kotlin": true, "jshell": true, "ipython": true, "ssh": true, "docker": true, "podman": true, "kubectl": true,
	"nsenter": true, "redis-cli": true, "mongosh": true, "ftp": true, "sftp": true, "lftp": true, "telnet": true,
}

// interpreterName reports whether base is an interpreter, a version suffix included: python3.12.
func interpreterName(base string) bool {
	return shells[base] || interpreters[base] || interpreters[strings.TrimRight(base, "0123456789.")]
}

func isWrapperName(base string) bool {
	return wrappers[base] != nil || textRunners[base] != "" || shells[base] || base == "find" || base == "eval"
}

// split finds where the inner command starts. plain is false when an option is not known: then nobody can say.
func (w *wrapper) split(words []word) (at int, options []string, plain bool) {
	if w.vague {
		return 1, nil, false
	}
	i := 1
	for ; i < len(words); i++ {
		t := words[i]
		if !t.known || t.glob {
			return i, options, t.prefix != "" && t.prefix[0] != '-'
		}
		text := t.text
		if text == "--" {
			i++
			break
		}
		if text == "-" && w.dash {
			i++
			break
		}
		if len(text) < 2 || text[0] != '-' {
			break
		}
		options = append(options, text)
		if strings.HasPrefix(text, "--") {
			name, _, attached := strings.Cut(text, "=")
			switch {
			case listed(w.longArg, name):
				if !attached {
					i++
				}
			case listed(w.long, name):
			default:
				return i, options, false
			}
			continue
		}
		if w.minus && strings.Trim(text[1:], "0123456789") == "" {
			continue
		}
		for j := 1; j < len(text); j++ {
			if strings.IndexByte(w.attached, text[j]) >= 0 {
				break
			}
			if strings.IndexByte(w.values, text[j]) >= 0 {
				if j == len(text)-1 {
					i++
				}
				break
			}
			if strings.IndexByte(w.flags, text[j]) < 0 {
				return i, options, false
			}
		}
	}
	for ; w.assigns != "" && i < len(words); i++ {
		// These programs ask for nothing but the sign: env a.b=c ls and env =x ls run ls.
		if text := words[i].text; !strings.Contains(text, "=") || strings.IndexByte(w.assigns, text[0]) >= 0 {
			if i > 1 && w.assigns != "\x00" && strings.HasPrefix(text, "-") && strings.Contains(words[i-1].text, "=") {
				return i, options, false // sudo reads options after them too
			}
			break
		}
		if !words[i].known || words[i].glob {
			return i, options, false
		}
	}
	for j := i; w.number && j < min(i+w.operands, len(words)); j++ {
		if t := words[j].text; words[j].known && (t == "" || (t[0] < '0' || t[0] > '9') && t[0] != '.') {
			return j, options, false
		}
	}
	return min(i+w.operands, len(words)), options, true
}

func listed(list, name string) bool {
	for item := range strings.FieldsSeq(list) {
		if item == name {
			return true
		}
	}
	return false
}

// splitAssign splits NAME=value.
func splitAssign(text string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "", false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') && (i == 0 || c < '0' || c > '9') {
			return "", "", false
		}
	}
	return name, value, true
}
