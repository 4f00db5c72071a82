package policy

import (
	"strings"

	"pgregory.net/rapid"
)

// lineGen writes command lines: a grammar of everything that bash can do to run a program, with the spellings that hide
// which one. It is made of what is likely to confuse a reader, not of what people write.
type lineGen struct {
	t    *rapid.T
	left int // statements that may still be written
	docs []string
}

func genLine() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		g := &lineGen{t: t, left: rapid.IntRange(1, 7).Draw(t, "size")}
		line := g.list(3)
		line += g.takeDocs()
		for range rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2}).Draw(t, "changes") {
			at := rapid.IntRange(0, len(line)).Draw(t, "at")
			switch g.n("change", 4) {
			case 0: // leave one byte out
				if at < len(line) {
					line = line[:at] + line[at+1:]
				}
			default:
				line = line[:at] + g.one("odd", oddPieces...) + line[at:]
			}
		}
		return strings.ReplaceAll(line, "\x00", "")
	})
}

// oddPieces are what two readers of the same line are most likely to disagree about.
var oddPieces = []string{
	"\\\n", "\\", "'", `"`, "`", "$", "#", " #", "\n", "\r", "\t", " ", "\u00a0", "\u2028", "\u3000", "\v", "\f", ";", ";;", "&", "&&", "|", "||",
	"|&", "(", ")", "{", "}", "{ ", " }", "!", " ! ", "<", ">", "<<", "<<<", ">&", "&>", "=", "+=", "*", "?", "[", "]", "~", "^", "%", "@", ":",
	"$(", "${", "$((", "((", "))", "[[", "]]", "$'", `$"`, "<(", ">(", "-", "--", ",", "..", "/", "\\\\", "''", `""`, "$E", "$@", "\x01",
	"\x7f", "\u200b", "\ufeff", "é", "time ", "do ", "done", "then ", "in ", "function ", "coproc ", "esac", "rm", "0", "2>", "\\ ", "$$", "$-",
}

func (g *lineGen) n(what string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, what) }

func (g *lineGen) one(what string, list ...string) string {
	return rapid.SampledFrom(list).Draw(g.t, what)
}

// few draws true once in n times.
func (g *lineGen) few(n int) bool { return g.n("few", n) == n-1 }

func (g *lineGen) takeDocs() string {
	out := strings.Join(g.docs, "")
	g.docs = nil
	return out
}

// end ends a statement; the bodies of here-documents follow the first end of a line.
func (g *lineGen) end() string {
	if len(g.docs) > 0 {
		return "\n" + strings.TrimPrefix(g.takeDocs(), "\n")
	}
	return g.one("end", "; ", "; ", ";", "\n", " & ", "\n\n", " # rm x\n", ";\\\n")
}

func (g *lineGen) list(depth int) string {
	out := g.pipeline(depth)
	for g.left > 0 && g.n("more", 3) > 0 {
		if len(g.docs) > 0 {
			out += g.end()
		} else {
			out += g.one("join", " && ", " || ", "; ", "\n", "&&", ";", " & ", "&& \\\n ", " ||\n", "\t;\t")
		}
		out += g.pipeline(depth)
	}
	return out
}

// body is a list that ends where a keyword may follow.
func (g *lineGen) body(depth int) string { return g.list(depth) + g.end() }

func (g *lineGen) pipeline(depth int) string {
	out := g.one("before", "", "", "", "", "", "", "", "! ", "time ", "time -p ", "! ! ", "!\\\n ", "time -- ")
	out += g.statement(depth)
	for g.left > 0 && g.few(4) {
		out += g.one("pipe", " | ", "|", " |& ", "|\n", "| \\\n") + g.statement(depth)
	}
	return out
}

func (g *lineGen) statement(depth int) string {
	g.left--
	if depth <= 0 || g.left <= 0 {
		return g.simple(depth)
	}
	d := depth - 1
	var out string
	switch g.n("kind", 34) {
	default:
		return g.simple(depth)
	case 0:
		out = "(" + g.list(d) + g.docEnd() + ")"
	case 1:
		out = "{ " + g.body(d) + "}"
	case 2:
		out = "if " + g.body(d) + "then " + g.body(d) + g.one("else", "fi", "fi", "else "+g.name(d)+" x; fi", "elif "+g.name(d)+"; then "+g.name(d)+"; fi")
	case 3:
		out = "for " + g.variable() + g.one("in", " in ", " in\\\n ", "\nin ") + g.words(d, 2) + "; do " + g.body(d) + "done"
	case 4:
		out = "while " + g.list(d) + g.end() + "do " + g.body(d) + "break; done"
	case 5:
		out = "until " + g.list(d) + g.end() + "do " + g.body(d) + "break; done"
	case 6:
		out = "case " + g.word(d) + " in " + g.one("open", "(", "") + g.one("pattern", "*", "x", "r*", "'a b'", "x|*", `"$V"`) + ") " + g.list(d) + g.docEnd() +
			g.one("next", ";;", ";&", ";;&", "") + " esac"
	case 7:
		f := g.one("function", "f", "g", "rm", "x-y", "h")
		out = g.one("form", f+"() ", f+" () ", "function "+f+" ", "function "+f+"() ") + g.one("form", "{ "+g.body(d)+"}", "("+g.list(d)+g.docEnd()+")") + "; " + f + " " + g.words(d, 2)
	case 8:
		out = "for ((" + g.arithmetic() + "; " + g.one("condition", "0", "i<1", g.arithmetic()) + "; i++)); do " + g.body(d) + "break; done"
	case 9:
		out = "((" + g.arithmetic() + "))"
	case 10:
		out = "[[ " + g.one("test", "-f "+g.word(d), "-v "+g.subscript(), g.word(d)+" == "+g.word(d), g.word(d)+" -eq "+g.arithmetic(),
			g.word(d)+" =~ "+g.word(d), "! -z "+g.word(d), "( -n "+g.word(d)+" )", "-R N", "-n x && -d "+g.word(d), "-t "+g.word(d), "a -nt "+g.word(d)) + " ]]"
	case 11:
		out = g.one("coproc", "coproc ", "coproc C ", "coproc "+g.variable()+" ") + g.one("form", g.simple(d), "{ "+g.body(d)+"}", "("+g.list(d)+g.docEnd()+")")
	case 12:
		out = "select " + g.variable() + " in " + g.words(d, 2) + "; do " + g.body(d) + "break; done"
	case 13:
		out = "shopt -s expand_aliases\nalias q=" + g.quote(g.name(0)+" ") + "\nq " + g.words(d, 2)
	}
	if g.few(5) {
		out += g.redirect(d)
	}
	return out
}

// docEnd is what must stand before a bracket when a here-document waits for its body.
func (g *lineGen) docEnd() string {
	if len(g.docs) > 0 {
		return g.end()
	}
	return ""
}

func (g *lineGen) variable() string {
	return g.one("variable", "x", "y", "V", "P", "IFS", "PATH", "PS4", "_", "i")
}

func (g *lineGen) plain() string {
	return g.one("name", "rm", "curl", "make", "zz", "touch", "mv", "git", "ls", "true", "echo")
}

// name is the name of a program, in one of the ways to write it.
func (g *lineGen) name(depth int) string {
	if g.n("spelled", 3) > 0 {
		return g.plain()
	}
	name := g.plain()
	cut := g.n("cut", len(name)+1)
	a, b := name[:cut], name[cut:]
	if a != "" && g.few(12) {
		return a + "\\\n" + b
	}
	if depth > 0 && g.few(6) {
		return g.one("spelling", "$(echo "+name+")", "`echo "+name+"`", "${U:-"+name+"}", "${V:+"+name+"}", "${U:="+name+"}", "$U"+name, a+"$E"+b, `"${x[@]:-`+name+`}"`,
			"$(printf "+name+")", "${V/evil/"+name+"}", "$V", "${!P}", "${V,,}", "$(<script)", "${N:0:1}"+name, "$_", "$0", a+"${E}"+b, a+`"$E"`+b, a+"${U-}"+b, "${V@P}", "${N@P}")
	}
	return g.one("spelling", "'"+name+"'", `"`+name+`"`, `\`+name, a+"''"+b, a+`""`+b, a+`\`+b, "'"+a+"'"+b, a+`"`+b+`"`, "$'"+name+"'", `$'\x`+hex(name[0])+"'"+name[1:], `$'\`+octal(name[0])+"'"+name[1:],
		`$"`+name+`"`, "/bin/"+name, "/usr/bin/"+name, "./run", "/usr//bin/./"+name, "{"+name+",x}", "{"+a+","+name+"}", a+"{"+b+",x}", a+"{"+b+"}", "r?", "[r]m", "z*", a+"$''"+b, a+`$""`+b,
		"{,"+name+"}", `$'\u`+"00"+hex(name[0])+"'"+name[1:], "~/../../usr/bin/"+name, "../../../bin/"+name, "$HOME/w/run", "~+/run", name+"$()", name+"``", "{r..r}m", "-"+name)
}

func hex(c byte) string { return string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]) }

func octal(c byte) string { return string('0'+c>>6) + string('0'+c>>3&7) + string('0'+c&7) }

func (g *lineGen) quote(text string) string {
	return g.one("quotes", "'"+strings.ReplaceAll(text, "'", `'\''`)+"'", `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)+`"`,
		`"`+strings.ReplaceAll(strings.ReplaceAll(text, `"`, `\"`), "`", "\\`")+`"`, "$'"+strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text)+"'")
}

// text is a command line inside a word.
func (g *lineGen) text(depth int) string {
	g.left--
	if depth <= 0 || g.left <= 0 {
		return g.name(0) + g.one("argument", "", " x", " -f")
	}
	docs := g.docs
	g.docs = nil
	out := g.list(depth-1) + g.takeDocs()
	g.docs = docs
	return out
}

func (g *lineGen) words(depth, most int) string {
	var out []string
	for range g.n("words", most+1) {
		out = append(out, g.word(depth))
	}
	return strings.Join(out, " ")
}

func (g *lineGen) word(depth int) string {
	if depth > 0 && g.left > 0 && g.few(5) {
		return g.substitution(depth)
	}
	return g.one("word", "x", "a.txt", "-f", "-rf", "-c", "--", "-", "$x", `"$x"`, "${y}", `"$@"`, "$V", `"$V"`, "$N", "$O", "*", "*.txt", "sub/*", "~", "~root", "$HOME", "'a b'", `"a $V"`, "a=b",
		"{a,b}", "{1..3}", "x{,y}", "$((1))", "$(("+g.arithmetic()+"))", "${#x}", "${x:-y}", "${x:"+g.arithmetic()+"}", "${N@P}", "${x@Q}", "${!P}", "${"+g.subscript()+"}", "${x/a/b}", "${x//$V/b}", "$[1]", "$["+g.arithmetic()+"]",
		"!", "if", "#x", `\#`, "evil", "[x]", "+x", "2", ";x"[1:], "=", "%1", "{}", `\;`, "$'a\\nb'", `"a\`+"\n"+`b"`, "@(a|b)", "é", "-exec", "-I{}", "2>&1"[1:1]+"x", "${x:?}", "${*}", "$?", "-v", "/dev/null", "name", "in", "do")
}

func (g *lineGen) substitution(depth int) string {
	text := g.text(depth)
	return g.one("substitution", "$("+text+")", `"$(`+text+`)"`, "$( "+text+"\n)", "`"+strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(text)+"`", "<("+text+")", ">("+text+")", `"a${x:-$(`+text+`)}"`,
		"${x:=$("+text+")}", "${x+$("+text+")}", "${V+$("+text+")}", "$(("+"$("+text+")"+"))", "${x/$("+text+")/b}", "${V:$("+text+")}", "${V#$("+text+")}", "x$("+text+")y", "a[$("+text+")]", "'$("+text+")'", "\"`"+strings.ReplaceAll(text, "`", "\\`")+"`\"", "{$("+text+"),b}",
		"${x[$("+text+")]}", "${ "+text+"; }", "$(<"+g.one("file", "a.txt", "script", "$("+text+")")+")", "~$("+text+")", "$'a'$("+text+")", `\$(`+g.plain()+`)`, `"\$(`+g.plain()+`)"`)
}

func (g *lineGen) arithmetic() string {
	return g.one("arithmetic", "1", "1+2", "x", "N", "$N", "x=1", "x[0]", "N++", "i=0", "q[0]", "q[$x]", "1?N:2", "a[$(zz)]", "$(zz)", "`zz`", "${#x}", "${N}", "'1'", "x,N", "16#f", "0x1", "-N", "!1", "1&&N", "\"$N\"", "$((N))", "RANDOM", "_")
}

func (g *lineGen) subscript() string {
	return g.one("subscript", "q[0]", "q[$x]", "q[$(zz)]", "q[N]", "x", "q[@]", "q['$(zz)']", "N", `q["$(zz)"]`, "q[x=1]", "$N", "q[`zz`]", `"$N"`, `'a[$(evil)]'`)
}

func (g *lineGen) assignment(depth int) string {
	v := g.variable()
	return g.one("assignment", v+"="+g.name(depth), v+"="+g.word(depth), v+"+="+g.name(0), v+"=", v+"=("+g.words(depth, 2)+")", v+"["+g.one("index", "0", "$N", "N", "$(zz)", "x")+"]="+g.word(depth), v+"="+g.quote(g.name(0)+" x"), v+`='+ $(zz)'`,
		"x="+g.plain(), "x=r", "y="+g.plain()+"\\ -f", "x='$(zz)'", "E="+g.plain(), "PS4='$(zz)'", "PATH=.", "BASH_ENV=script", "x=~", "x={a,b}", "x=*", "x=$y", "x=$x$x", "HOME=/tmp", "IFS=m")
}

func (g *lineGen) redirect(depth int) string {
	target := g.one("target", "out", "out", "a.txt", "sub/new", "link", "../up", "/tmp/t", "$x", `"out 2"`, "o*t", "*.txt", "{out,b}", "~/h", "$HOME/h", "o\\ut", "'o'ut", "$V", "/dev/null", "${x:-out}", "o$'u't", "sub/../p", "~+/h2", "$PWD/h3", "-", "1", "é", "./-f", "$(echo out)", "$E\"out\"", "out#x", "/dev/tcp/h/1", "link/../x")
	docName := g.one("end", "E", "'E'", `"E"`, `\E`, "E")
	switch g.n("redirection", 12) {
	case 0:
		text := g.text(depth - 1)
		if strings.Contains(text, "\nE\n") {
			return ""
		}
		g.docs = append(g.docs, "\n"+g.one("here", text, "$("+text+")", "a\n$x\n`zz`", `\$(zz)`, "${x:-$(zz)}", "\\$x $(zz)", "$((N))", "rm x\\")+"\nE\n")
		return " <<" + docName
	case 1:
		g.docs = append(g.docs, "\n\t"+g.one("here", "$(zz)", "rm x", "'$(zz)'", "$x", "a\\")+"\n\tE\n")
		return " <<-" + docName
	case 2:
		return " <<<" + g.one("space", "", " ") + g.word(depth)
	case 3:
		return g.one("in", " <", " < ", " 0<", " 3<") + g.one("from", "a.txt", "script", "link", target)
	}
	return g.one("out", " >", " > ", ">", " >>", " >|", " 2>", " &>", " &>>", " <>", " 3>", " {fd}>", " >&", " 1>", ">\\\n", " >> ", " 10>", " {x}>>", "2>&1 >") + target
}

func (g *lineGen) simple(depth int) string {
	var out []string
	for g.few(6) {
		out = append(out, g.assignment(depth))
	}
	if len(out) > 0 && g.few(3) {
		return strings.Join(out, " ")
	}
	if g.few(10) {
		out = append(out, strings.TrimPrefix(g.redirect(depth), " "))
	}
	switch {
	case g.n("what", 5) < 2:
		out = append(out, g.name(depth))
		if w := g.words(depth, 3); w != "" {
			out = append(out, w)
		}
	case g.n("what", 2) == 0:
		out = append(out, g.wrapped(depth))
	default:
		out = append(out, g.builtin(depth))
	}
	line := strings.Join(out, g.one("blank", " ", " ", " ", "  ", "\t", " \\\n"))
	if g.few(5) {
		line += g.redirect(depth)
	}
	return line
}

func (g *lineGen) builtin(depth int) string {
	text := g.text(depth)
	return g.one("builtin", "eval "+g.quote(text), "eval "+text, "eval "+g.name(depth)+" "+g.words(depth, 2), "trap "+g.quote(text)+" EXIT", "trap -- "+g.quote(text)+" DEBUG", "source script", ". ./script", ". <(echo zz)",
		"let x=1", "let "+g.quote(g.arithmetic()), "let "+g.subscript()+"=1", "printf -v "+g.subscript()+" x", "printf %s "+g.word(depth), "printf -vx "+g.name(0), "declare -n x="+g.subscript(), "declare "+g.subscript()+"=1", "declare -i x="+g.quote(g.arithmetic()), "declare x="+g.word(depth),
		"declare -a 'x=($(zz))'", `declare -A x='([a]=$(zz))'`, "export x="+g.name(depth), "export PATH", "local x", "readonly x="+g.quote(g.name(0)), "typeset -i x; x=N", "unset "+g.subscript(), "unset 'a[$(zz)]'", "read "+g.subscript()+" <<<1", "read x <<< "+g.name(0), "read -r x y < script", "read BASH_CMDS[rm] <<<run",
		"mapfile -C zz -c 1 <a.txt", "mapfile -t x < script", "readarray -C 'zz x' -c1 x <a.txt", "test -v "+g.subscript(), "[ -v "+g.subscript()+" ]", "[ "+g.word(depth)+" -eq "+g.arithmetic()+" ]", "test "+g.word(depth)+" -lt "+g.word(depth), "compgen -C zz", "compgen -W '$(zz)'", "compgen -F f", "complete -C zz x", "hash -p ./run rm; rm", "hash rm",
		"BASH_CMDS[ls]=/bin/zz; ls", "set -x; PS4='$(zz)'; true", "set -- "+g.name(0)+" x; $1", `set -- zz; "$@"`, "shopt -s extglob", "shopt -s expand_aliases", "alias ls="+g.quote(g.name(0)), "BASH_ALIASES[ls]=zz", "enable -n echo; echo", "enable -f x y", "command "+g.name(depth)+" x", "command -v "+g.name(0), "command -p "+g.name(0), "command -- "+g.name(0), "builtin "+g.builtinName()+" "+g.words(depth, 2),
		"exec "+g.name(depth)+" x", "exec -a x "+g.name(0), "exec >out", "exec 3<a.txt", "exec -c "+g.name(0)+" y", "cd sub", "cd sub && "+g.name(0)+" >c2", "cd ..; >up2", "pushd sub; >x2; popd", "cd $x", "cd link/..", "wait -p "+g.subscript(), "getopts a "+g.subscript()+" -a", "return", "exit", "shift "+g.arithmetic(), "ulimit -c "+g.arithmetic(), "umask 0", "kill -l "+g.word(depth), "type rm", "jobs -x "+g.name(0)+" y", "fc -s", "bind -x '\"a\":zz'", "caller", "history -s x",
		"echo "+g.words(depth, 3), "echo -e '\\x72m'", "echo "+g.name(0)+" | "+g.one("reader", "sh", "bash", "xargs", "xargs -I{} {} x", "xargs -n1 echo", "{ read x; $x; }", "while read -r x; do $x; done", "bash -s x", "xargs sh -c", "cat | sh"), "dirs +1", "suspend -x", ": ${x:=zz} $x", ": \"${x:=$(zz)}\"", ": $((x=1)) >o2", "true "+g.word(depth), "times", "disown", "logout", "break", "mapfile <<< x", "test -n", "[ x", "set -o posix", "set -f", "set +B", "set -k; ls x=1", "local -n r=V", "function f { zz; }", "BASH_COMPAT=4.2", "histchars=ab")
}

func (g *lineGen) builtinName() string {
	return g.one("builtin name", "eval zz", "echo", "command zz", "source script", "printf -v 'a[$(zz)]' x", "cd sub;>z", "exec zz", "declare x=1", "eval", "command -v", "let 'a[$(zz)]'", "test -v 'a[$(zz)]'", "trap 'zz' EXIT")
}

// wrapped is a program that runs another, with its options in odd places.
func (g *lineGen) wrapped(depth int) string {
	inner := g.name(depth)
	if w := g.words(depth, 2); w != "" {
		inner += " " + w
	}
	if depth > 0 && g.few(4) {
		inner = g.wrapped(depth - 1)
	}
	text := g.text(depth)
	quoted := g.quote(text)
	return g.one("wrapper", "env "+inner, "env -i "+inner, "env x=1 y=2 "+inner, "env -u x "+inner, "env -ux "+inner, "env -- "+inner, "env -S '"+g.plain()+" x'", "env -S'"+g.plain()+" x' y", "env -iS "+g.quote(g.plain()+" x"), "env - "+inner, "env -C sub "+inner, "env --chdir=sub "+inner, "env -vS"+g.plain(), "env --split-string="+g.quote(g.name(0)),
		"env --unset=x "+inner, "env -0", "env "+g.word(0)+" "+inner, "env --ignore-env "+inner, "env x "+inner, "env --default-signal=INT "+inner, "env --block-signal "+inner, "env PATH=/usr/bin "+inner, "env 'a b=c' "+inner, "env =x "+inner, "env -a q "+inner, "env --argv0=q "+inner,
		"nice "+inner, "nice -n 5 "+inner, "nice -5 "+inner, "nice -n5 "+inner, "nice --adjustment=5 "+inner, "nice --5 "+inner, "nice --adj 5 "+inner, "nice -+5 "+inner, "nice -n -- "+inner,
		"timeout 1 "+inner, "timeout -k 1 1 "+inner, "timeout -s KILL 1 "+inner, "timeout --signal=9 1s "+inner, "timeout -sKILL .5 "+inner, "timeout --foreground 1 "+inner, "timeout --sig 9 1 "+inner, "timeout $x 1 "+inner, "timeout -v 1 "+inner, "timeout --kill 1 1 "+inner, "timeout 0x1 "+inner, "timeout inf "+inner, "timeout +1 "+inner,
		"nohup "+inner, "nohup -- "+inner, "setsid "+inner, "setsid -w "+inner, "setsid -fw "+inner, "setsid --wait "+inner, "stdbuf -o0 "+inner, "stdbuf -oL "+inner, "stdbuf -o L "+inner, "stdbuf --output=0 "+inner, "stdbuf -i0 -e 0 "+inner,
		"ionice -c 3 "+inner, "ionice -c3 "+inner, "ionice -tc3 -n 1 "+inner, "ionice "+inner, "chrt -o 0 "+inner, "chrt -b 0 "+inner, "taskset 1 "+inner, "taskset -c 0 "+inner, "taskset -a 1 "+inner, "taskset 0x1 "+inner, "setarch -R "+inner, "setarch x86_64 "+inner, "setarch x86_64 -R "+inner, "setarch "+inner, "prlimit --nofile=99 "+inner, "prlimit -n99 "+inner, "prlimit "+inner, "prlimit --core=0 -- "+inner,
		"command "+inner, "exec "+inner, "\\time "+inner, "/usr/bin/time -p "+inner, "\\time -f %e "+inner, "\\time -o t2 "+inner, "\\time --format=x "+inner, "\\time -- "+inner,
		"xargs "+inner+" <a.txt", "xargs -0 "+inner+" <<<x", "xargs -I{} "+inner+" {} <a.txt", "xargs -n 1 "+inner+" <a.txt", "xargs -n1 -P 2 "+inner+" <<< 'a b'", "xargs -i "+inner+" <a.txt", "xargs -L1 "+inner+" <a.txt", "xargs -l "+inner+" <a.txt", "xargs -d x "+inner+" <a.txt", "xargs -a a.txt "+inner, "xargs -aa.txt "+inner, "xargs --arg-file=a.txt "+inner, "xargs -E x "+inner+" <a.txt", "xargs -e "+inner+" <a.txt", "xargs -rt "+inner+" <a.txt", "xargs --max-args=1 "+inner+" <a.txt", "xargs --max-args 1 "+inner+" <a.txt", "xargs --max-a 1 "+inner+" <a.txt", "xargs -ITEXT "+inner+" TEXT <a.txt", "xargs -I rm "+inner+" <a.txt", "xargs -i% "+inner+" % <a.txt", "xargs <script", "xargs -- "+inner+" <a.txt", "xargs -I{} sh -c '{}' <script", "xargs sh -c "+quoted+" <a.txt", "xargs -J x "+inner+" <a.txt", "xargs -l1 "+inner+" <a.txt", "xargs --replace "+inner+" {} <a.txt", "xargs -s 99 "+inner+" <<<a", "echo "+g.name(0)+" | xargs env", "echo x | xargs -I{} env {}="+g.plain()+" "+inner, "xargs -o "+inner+" <a.txt", "xargs --process-slot-var=x "+inner+" <a.txt", "xargs --show-limits "+inner+" <a.txt",
		"find . -exec "+inner+" \\;", "find sub -exec "+inner+" {} +", "find . -name '*.txt' -exec sh -c "+quoted+" \\;", "find . -execdir "+inner+" ';'", "find . -ok "+inner+" \\;", "find . -exec true \\; -exec "+inner+" {} \\;", "find . -maxdepth 0 $O", "find sub -type f -fprint o3", "find a.txt -exec "+inner+" + \\;", "find a.txt -exec env {} \\;", "find rm -exec /usr/bin/{} x \\;", "find . $(echo -exec "+g.plain()+" ';')", "find -exec "+inner+" ';'", "find a.txt -exec "+inner+" {} + -exec "+g.name(0)+" {} +", "find a.txt -\\exec "+inner+" ';'", "find a.txt -execdir sh -c "+quoted+" {} +", "find a.txt -exec '' "+inner+" ';'",
		"sh -c "+quoted, "bash -c "+quoted, "bash -lc "+quoted, "bash -c "+quoted+" a b", "sh -ec "+quoted, "bash -c -- "+quoted, "bash --norc -c "+quoted, "bash -o errexit -c "+quoted, "bash +x -c "+quoted, "bash -xc "+quoted, "bash -cx "+quoted, "sh -c '$0 x' "+inner, `bash -c '"$@"' _ `+inner, "sh -c 'eval $1' - "+quoted, "bash -O extglob -c "+quoted, "bash <<<"+quoted, "sh <script", "bash script", "sh ./script x", "bash -s <<<"+quoted, "bash -s x <<< "+quoted, "dash -c "+quoted, "sh -c "+text, "bash -c $V", `bash -c "$x"`, "bash --rcfile script -ic :", "bash -c "+quoted+" -c "+quoted, "sh - script", "sh -- script", "bash -", "bash -c", "sh +c "+quoted, "bash -ic "+quoted, "bash --init-file script -c "+quoted, "sh /dev/stdin <<< "+quoted, "bash /dev/fd/3 3<script", "bash <(echo zz)", "bash -n -c "+quoted, "bash -ce "+quoted, "bash -c- "+quoted, "sh -", "bash -p -c "+quoted, "bash -abc "+quoted, "bash -co posix "+quoted, "bash -oc posix "+quoted, "bash -c -o posix "+quoted, "bash --posix -c "+quoted, "bash -D -c "+quoted, "bash -c +e "+quoted,
		"sudo "+inner, "sudo -u root "+inner, "sudo -n "+inner, "sudo -nu root "+inner, "sudo x=1 "+inner, "sudo -- "+inner, "sudo --user root "+inner, "sudo -E "+inner, "doas "+inner, "doas -u root "+inner, "busybox "+inner, "busybox sh -c "+quoted, "toybox "+inner,
		"flock a.txt "+inner, "flock a.txt -c "+quoted, "flock -n a.txt "+inner, "flock -w 1 a.txt "+inner, "flock a.txt sh -c "+quoted, "flock -o a.txt -c "+quoted, "flock a.txt -- "+inner, "flock a.txt --command "+quoted, "flock -x -- a.txt "+inner, "script -qc "+quoted+" /dev/null", "script -c "+quoted+" o4", "strace -o /dev/null "+inner, "strace -f -o o5 "+inner, "strace -qq -e none "+inner,
		"tee o6 </dev/null", "tee -a a.txt sub/n </dev/null", "cp a.txt o7", "cp -t sub a.txt", "touch o8 'o 9'", "touch {p,q}", "sort -o o10 a.txt", "sort a.txt -oo11", "dd if=a.txt of=o12", "sed -i s/t/T/ a.txt", "sed 'w o13' a.txt", "sed -n '1e zz' a.txt", "sed s/x/y/e a.txt", "truncate -s 0 b.txt", "cp -r sub s2", "cp a.txt sub", "tee $x o14 <a.txt", "cp a.txt $HOME/o15", "tee -- -f <a.txt", "cp --target-directory=sub a.txt", "cp --targ sub b.txt", "sort --out=o16 a.txt", "touch -r a.txt o17", "touch -d now o18", "cp -S x a.txt o19", "cp --parents sub/c.txt /tmp", "sed --in-place=.bak s/t/T/ a.txt", "sed -i.bak s/t/T/ a.txt", "sed -Ei s/t/T/ b.txt", "sed -ne 'w o20' a.txt", "dd of=o21 <a.txt", "tee >(zz) </dev/null", "sort -uo o22 a.txt", "cp a.txt b.txt sub/", "touch ~/o23", "touch ./*", "cp link o24", "cp -a link o25", "cp a.txt link", "tee link </dev/null")
}
