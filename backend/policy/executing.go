package policy

import "strings"

// optionRow is one option that runs another program, loads configuration or code, or writes a file. An allow rule covers
// it only by spelling it out.
type optionRow struct {
	program string // base names, space-separated
	sub     string // "" before any subcommand (or for a program without them), "*" anywhere, or one subcommand
	option  string // spellings, space-separated: -x, --long, -long, or a bare word for a subcommand itself
}

// executingOptions is the table. Each row has a test.
var executingOptions = []optionRow{
	{"git", "", "-c --config-env --exec-path -C --git-dir --work-tree --attr-source"},
	{"git", "", "-p --paginate"},
	{"git", "*", "--output --ext-diff --textconv --upload-pack --receive-pack --exec"},
	{"git", "*", "--no-index --export-marks --import-marks"},
	{"git", "", "config bundle merge-index merge-one-file fast-import remote-ext remote-fd daemon instaweb shell cvsserver p4 svn hook " +
		"credential credential-store maintenance"},
	{"git", "checkout-index", "--prefix"},
	{"git", "read-tree", "--index-output"},
	{"git", "log", "--show-signature"},
	{"git", "clone", "-u -c --config --template --reference --separate-git-dir --recurse-submodules --recursive"},
	{"git", "init", "--template --separate-git-dir"},
	{"git", "grep", "-O --open-files-in-pager -f"},
	{"git", "rebase", "-x --exec -i --interactive"},
	{"git", "bisect", "run"},
	{"git", "submodule", "foreach update add"},
	{"git", "difftool", "-x --extcmd -t --tool"},
	{"git", "mergetool", "-t --tool"},
	{"git", "archive", "-o --remote"},
	{"git", "format-patch", "-o --output-directory"},
	{"git", "remote", "add set-url rename"},
	{"git", "worktree", "add"},
	{"git", "filter-branch", "--tree-filter --index-filter --msg-filter --commit-filter --env-filter --parent-filter --tag-name-filter --setup"},
	{"git", "send-email", "--smtp-server --to-cmd --cc-cmd --header-cmd --sendmail-cmd"},
	{"git", "blame", "--contents"},
	{"git", "apply", "--directory --unsafe-paths"},
	{"rg", "", "--pre --hostname-bin --search-zip -z --ignore-file"},
	{"ag ack", "", "--pager --files-from"},
	{"sort", "", "-o --output --compress-program -T --temporary-directory --files0-from"},
	{"tar bsdtar gtar", "", "--to-command --checkpoint-action --use-compress-program -I --rsh-command --rmt-command --info-script --new-volume-script -F -T --files-from -C --directory -P --absolute-names --index-file --volno-file -g --listed-incremental"},
	{"zip", "", "-T -TT --unzip-command -m --move"},
	{"7z 7za", "", "-o -si -so"},
	{"unzip", "", "-d"},
	{"ssh", "", "-o -F -E -S -L -R -D -W -w -J -I"},
	{"scp sftp", "", "-o -F -S -J -i -D -P"},
	{"rsync", "", "-e --rsh --rsync-path --files-from --log-file --backup-dir --partial-dir --write-batch --daemon --config -M --remote-option"},
	{"find", "", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"},
	{"fd fdfind", "", "-x --exec -X --exec-batch --ignore-file"},
	{"man", "", "-P --pager -H --html -C --config-file -M --manpath -l --local-file -T --troff-device -X --preprocessor -p"},
	{"less more", "", "--cmd -o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src -t --tag-file -T"},
	{"sed gsed", "", "-i --in-place -f --file"},
	{"awk gawk mawk", "", "-f --file -i --include -l --load -E --exec -o --pretty-print -p --profile -d --dump-variables"},
	{"tree", "", "-o --output --fromfile"},
	{"date", "", "-s --set -f --file"},
	{"split", "", "--filter"},
	{"shuf", "", "-o --output"},
	{"tcpdump", "", "-z -w -Z"},
	{"xxd", "", "-r"},
	{"curl", "", "-o --output -O --remote-name --remote-name-all -J --remote-header-name --output-dir -D --dump-header -c --cookie-jar -K --config --trace --trace-ascii --stderr -T --upload-file --netrc-file -x --proxy --preproxy --unix-socket --abstract-unix-socket --connect-to --resolve --doh-url --libcurl --engine -w --write-out --etag-save --hsts"},
	{"wget", "", "-O --output-document -o --output-file -a --append-output -P --directory-prefix -e --execute --config --use-askpass --post-file --post-data --body-file -i --input-file --save-cookies --load-cookies --warc-file --no-check-certificate -B"},
	{"docker podman nerdctl", "", "--host -H --config --context -c --url --connection"},
	{"docker podman nerdctl", "run", "-v --volume --mount --privileged --cap-add --device --pid --network --security-opt --entrypoint --env-file --userns --ipc --add-host"},
	{"docker podman nerdctl", "build", "-f --file -o --output --build-context --secret --ssh --network --allow"},
	{"docker-compose", "", "-f --file --project-directory --env-file -H --host"},
	{"kubectl oc", "*", "--kubeconfig --server -s --context --cluster --token --as --as-group --certificate-authority --client-key --insecure-skip-tls-verify"},
	{"kubectl oc", "", "exec cp"},
	{"helm", "*", "--post-renderer --kubeconfig --kube-context --repository-config --plugins-dir"},
	{"terraform tofu", "*", "-chdir -plugin-dir -out -state -state-out -backend-config -var-file"},
	{"ansible ansible-playbook", "*", "-M --module-path --vault-password-file --connection -c"},
	{"make gmake", "", "-f --file --makefile -C --directory --eval -I --include-dir"},
	{"ninja", "", "-C -f -t"},
	{"cmake", "", "-P -E -C"},
	{"go", "*", "-toolexec -exec -vettool -overlay -modfile -C -o -ldflags -gcflags -asmflags -gccgoflags -pkgdir -cpuprofile -memprofile -coverprofile -blockprofile -mutexprofile -trace -outputdir"},
	{"go", "env", "-w -u"},
	{"cargo", "*", "--config --manifest-path -C -Z --target-dir --artifact-dir --out-dir"},
	{"rustc", "", "-o -C --codegen -Z --extern -L --out-dir --emit"},
	{"gcc g++ cc c++ clang clang++", "", "-wrapper -fplugin -specs -B -iplugindir -fuse-ld -dumpdir -save-temps --save-temps -Xclang -load"},
	{"ld", "", "-plugin --plugin -o --output -T --script -dT"},
	{"npm pnpm yarn", "*", "--script-shell --prefix -C --dir --cwd --userconfig --globalconfig --registry --node-options --ignore-path --init-module --cache"},
	{"npm pnpm yarn", "", "config set exec x dlx explore edit"},
	{"npx bunx", "", "-p --package -c --call --shell --node-options"},
	{"node nodejs", "", "--require --import --loader --experimental-loader --env-file --inspect --inspect-brk --openssl-config --diagnostic-dir --cpu-prof-dir --heap-prof-dir"},
	{"deno", "*", "--config --import-map --allow-run --allow-all -A --allow-ffi --preload"},
	{"pip pip3 uv", "*", "-i --index-url --extra-index-url -f --find-links --config-settings -t --target --prefix --root --proxy --trusted-host --cert --python --log --cache-dir"},
	{"pytest", "", "-p -c --config-file --rootdir --confcutdir --basetemp --junitxml --junit-xml --log-file -o --override-ini --pdbcls --import-mode"},
	{"mypy pylint flake8 ruff black", "*", "--config --config-file --rcfile --load-plugins --init-hook --output-file --plugin-path --python-executable --cache-dir"},
	{"eslint prettier", "", "-c --config --rulesdir --plugin --resolve-plugins-relative-to --parser -o --output-file --format -f --ignore-path"},
	{"jest vitest", "*", "--config -c --globalSetup --setupFiles --testRunner --reporters --rootDir --outputFile --resolver --transform"},
	{"tsc", "", "--outDir --outFile --declarationDir --generateTrace --generateCpuProfile"},
	{"webpack vite rollup esbuild", "*", "--config -c --plugin -p --outdir --outfile --output-path"},
	{"mvn", "*", "-f --file -s --settings -gs -l --log-file -Dexec.executable"},
	{"gradle", "*", "-b --build-file -c --settings-file -I --init-script -p --project-dir -g --gradle-user-home --include-build"},
	{"java", "", "-agentlib -agentpath -javaagent -XX:OnError -XX:OnOutOfMemoryError --module-path"},
	{"php", "", "-c -d -r -B -R -F -E -z"},
	{"perl ruby", "", "-i -x -S"},
	{"psql", "", "-f --file -o --output -L --log-file"},
	{"mysql mysqldump", "", "--pager --tee --init-command --defaults-file --defaults-extra-file --plugin-dir -r --result-file -T --tab"},
	{"sqlite3", "", "-init -cmd"},
	{"vim vi nvim ex view", "", "-c --cmd -S -s -u -U -w -W --startuptime -es -i"},
	{"emacs", "", "--eval -f --funcall -l --load -x --script --execute"},
	{"gdb", "", "-x --command -ex --eval-command -iex -ix --args -c"},
	{"strace ltrace", "", "-o -E -b -p"},
	{"openssl", "*", "-engine -provider -provider-path -out -config -writerand -keyout"},
	{"gpg gpg2", "", "-o --output --options --homedir --agent-program --pinentry-program --photo-viewer --keyserver-options --exec-path --dirmngr-program --gpgconf"},
	{"jq", "", "-f --from-file -L"},
	{"yq", "*", "-i --inplace --split-exp -s --from-file"},
	{"gh", "", "alias extension"},
	{"gh", "*", "--hostname"},
	{"gh", "api", "-X --method -f -F --field --raw-field --input"},
	{"aws", "*", "--endpoint-url --profile --cli-input-json --ca-bundle --no-verify-ssl"},
	{"systemctl journalctl", "*", "-H --host -M --machine --root --image --file -D --directory --cursor-file"},
	{"env", "", "-S --split-string -C --chdir"},
	{"time gtime", "", "-o --output"},
	{"file", "", "-C --compile -m --magic-file -f --files-from -z -Z"},
	{"ffmpeg", "", "-f -filter_complex_script -protocol_whitelist -report"},
	{"wc du", "", "--files0-from"},
	{"diff", "", "--to-file --from-file"},
	{"perldoc pydoc", "", "-d -m -M -w -p"},
	{"bat batcat", "", "--pager --config-file --config-dir --cache-dir --diff"},
	{"mail mailx mutt", "", "-a -A -S -F -e -f -i"},
	{"nc ncat netcat socat", "", "-e -c --exec --sh-exec --lua-exec -o --output"},
	{"screen tmux", "", "-c -f -S -L -X"},
	{"cp mv ln install", "", "-t --target-directory"},
	{"patch", "", "-d --directory -o --output -r --reject-file -i --input"},
	{"xargs", "", "-a --arg-file"},
	{"logger", "", "-f --file"},
	{"chezmoi", "", "-S --source -D --destination -c --config"},
}

// rowsByProgram is the table by base name, with the options split.
var rowsByProgram = func() map[string][]splitRow {
	out := map[string][]splitRow{}
	for _, row := range executingOptions {
		split := splitRow{sub: row.sub, options: strings.Fields(row.option)}
		for program := range strings.FieldsSeq(row.program) {
			out[program] = append(out[program], split)
		}
	}
	return out
}()

type splitRow struct {
	sub     string
	options []string
}

// globalValues are the options before a subcommand that take a value in the next word. Used to find the subcommand.
var globalValues = map[string]string{
	"git":     "-c -C --git-dir --work-tree --namespace --exec-path --config-env --attr-source --super-prefix",
	"docker":  "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey",
	"podman":  "--url --connection -c --log-level --root --runroot",
	"kubectl": "-n --namespace --context --cluster --kubeconfig --user -s --server --as --token --request-timeout -v",
	"npm":     "--prefix -w --workspace --registry", "pnpm": "-C --dir --filter -F", "yarn": "--cwd",
	"cargo": "--config -Z -C --manifest-path --color", "gh": "-R --repo --hostname",
	"aws": "--profile --region --output --endpoint-url", "systemctl": "-H --host -M --machine",
	"helm": "-n --namespace --kubeconfig --kube-context", "go": "-C",
}

// subcommand returns the index of the first word that is not an option of the program itself, or len(words).
func subcommand(base string, words []word) int {
	values := globalValues[base]
	for i := 1; i < len(words); i++ {
		w := words[i]
		if len(w.text) > 0 && w.text[0] == '-' && w.text != "--" {
			if listed(values, w.text) {
				i++
			}
			continue
		}
		return i
	}
	return len(words)
}

// hasSubcommands reports whether the program's first operand is a subcommand.
func hasSubcommands(base string) bool {
	for _, row := range rowsByProgram[base] {
		if row.sub != "" {
			return true
		}
	}
	return false
}

// executing notes the executing options in a command, and what could become one.
func (x *analysis) executing(c *command) {
	x.executingOperands(c)
	rows := rowsByProgram[c.base]
	if len(rows) == 0 {
		return
	}
	sub := len(c.words)
	subs := hasSubcommands(c.base)
	if subs {
		sub = subcommand(c.base, c.words)
	}
	name := ""
	if sub < len(c.words) {
		name = c.words[sub].text
	}
	ended := false
	for i, w := range c.words {
		if i == 0 {
			continue
		}
		applies := func(row splitRow) bool {
			switch row.sub {
			case "*":
				return true
			case "":
				return !subs || i <= sub
			}
			return row.sub == name && i > sub
		}
		if w.known && w.text == "--" {
			ended = true
			continue
		}
		for _, row := range rows {
			if !applies(row) || row.sub == "" && subs && i == sub && !bareRow(row) {
				continue
			}
			for _, spelling := range row.options {
				if ended && spelling[0] == '-' {
					continue
				}
				switch {
				case w.known && !w.glob && optionMatches(spelling, w.text):
					c.options = append(c.options, option{spelling: spelling, at: i})
				case couldBeOption(w, spelling):
					c.options = append(c.options, option{spelling: spelling, at: i, dynamic: true})
					if w.glob || w.many && c.parent >= 0 && x.f.commands[c.parent].wrap == wrapFeed {
						x.opaqueCommand(c, "an argument that may become an option of "+c.base)
					}
				}
				if len(c.options) >= maxOptions {
					return
				}
			}
		}
	}
}

// maxOptions is how many executing options of one command are kept: one is enough to ask.
const maxOptions = 16

func bareRow(row splitRow) bool { return row.options[0][0] != '-' }

// optionMatches compares a word with the spelling of an option: exact, with an attached value, as an unambiguous
// abbreviation of a long option, or inside a cluster of letters.
func optionMatches(spelling, text string) bool {
	if spelling[0] != '-' {
		return text == spelling
	}
	if len(text) < 2 || text[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(text, "=")
	if strings.HasPrefix(spelling, "--") {
		// getopt_long takes every unambiguous prefix; --o could be --output.
		return strings.HasPrefix(text, "--") && len(name) > 2 && strings.HasPrefix(spelling, name)
	}
	if len(spelling) > 2 { // -exec, -toolexec: one or two dashes
		return name == spelling || name == "-"+spelling || strings.HasPrefix(text, spelling+":")
	}
	return !strings.HasPrefix(text, "--") && strings.IndexByte(text[1:], spelling[1]) >= 0
}

// couldBeOption reports whether a word that is not known, or that the shell expands, may turn out to be the option.
func couldBeOption(w word, spelling string) bool {
	if w.known && !w.glob || w.tame && w.prefix == "" || spelling[0] != '-' && !w.many {
		return false
	}
	prefix := w.prefix
	if w.glob {
		if i := strings.IndexAny(w.text, "*?["); i >= 0 {
			prefix = w.text[:i]
		}
	}
	if prefix == "" {
		return true
	}
	if prefix[0] != '-' {
		return false
	}
	return strings.HasPrefix(spelling, prefix) || strings.HasPrefix(prefix, spelling) || !strings.HasPrefix(prefix, "--")
}

// executingOperands notes the operands that a program runs, or writes where one would expect it to read: an allow rule
// covers them only by spelling them out, like an executing option.
func (x *analysis) executingOperands(c *command) {
	kind := operandKinds[strings.ToLower(c.base)]
	if kind == 0 || len(c.words) < 2 {
		return
	}
	note := func(at int, code bool) {
		if len(c.options) < maxOptions {
			w := c.words[at]
			c.options = append(c.options, option{spelling: w.text, at: at, dynamic: !w.known || w.glob, code: code, file: !code})
		}
	}
	switch kind {
	case operandSed:
		for _, at := range sedScripts(c.words) {
			if w := c.words[at]; !w.literal() || !plainSed(strings.TrimPrefix(strings.TrimPrefix(w.text, "-e"), "--expression=")) {
				note(at, true)
			}
		}
		return
	case operandTar:
		// The letters of the first word may stand without a dash; then those that take a value take the words behind it.
		if w := c.words[1]; !w.literal() {
			note(1, true)
		} else if !strings.HasPrefix(w.text, "-") {
			for i := range w.text {
				if strings.IndexByte("CFITPg", w.text[i]) >= 0 {
					note(1, strings.IndexByte("FI", w.text[i]) >= 0)
				}
			}
		}
		return
	case operandOutput:
		operands := 0
		for i, w := range c.words[1:] {
			if !w.known || len(w.text) == 0 || w.text[0] != '-' {
				operands++
			}
			if operands > 1 || !w.known && w.many {
				note(i+1, false)
			}
		}
		return
	}
	for i, w := range c.words[1:] {
		text := w.text
		if !w.known {
			if kind == operandMake && !w.tame {
				note(i+1, true)
			}
			continue
		}
		switch kind {
		case operandMake:
			if name, _, ok := strings.Cut(text, "="); ok && name != "" && name[0] != '-' {
				note(i+1, true)
			}
		case operandGit:
			if strings.HasPrefix(text, "ext::") || strings.HasPrefix(text, "fd::") {
				note(i+1, true)
			}
		case operandPager:
			if strings.HasPrefix(text, "+") && strings.Trim(text[1:], "0123456789gG") != "" {
				note(i+1, true)
			}
		case operandListed:
			if strings.HasPrefix(text, "@") {
				note(i+1, true)
			}
		case operandSQLite:
			if strings.HasPrefix(strings.TrimLeft(text, " \t\n"), ".") && len(text) > 1 && text[1] != '/' && text[1] != '.' && !sqliteShows[text] || strings.Contains(text, "load_extension") {
				note(i+1, true)
			}
		case operandClient:
			if strings.Contains(text, `\!`) || strings.Contains(text, `\|`) || strings.Contains(text, "system") {
				note(i+1, true)
			}
		}
	}
}

// sqliteShows are the dot commands of sqlite3 that only print.
var sqliteShows = set(".tables .schema .databases .indexes .indices .dump .version .help .show")

// The kinds of operands that executingOperands knows.
const (
	operandMake   = iota + 1 // NAME=value: make expands it, SHELL= runs it
	operandSed               // a script with e, r, w
	operandTar               // a bundle without a dash
	operandOutput            // the second operand is written
	operandGit               // ext::command
	operandPager             // +command
	operandListed            // @file with options
	operandSQLite            // .shell
	operandClient            // \! in a database client
)

var operandKinds = map[string]int{
	"make": operandMake, "gmake": operandMake, "just": operandMake, "nmake": operandMake, "bmake": operandMake,
	"sed": operandSed, "gsed": operandSed,
	"tar": operandTar, "bsdtar": operandTar, "gtar": operandTar,
	"uniq": operandOutput, "xxd": operandOutput,
	"git":  operandGit,
	"less": operandPager, "more": operandPager, "most": operandPager, "vi": operandPager, "vim": operandPager, "nvim": operandPager,
	"view": operandPager, "ex": operandPager, "vimdiff": operandPager, "emacs": operandPager, "nano": operandPager,
	"gcc": operandListed, "g++": operandListed, "cc": operandListed, "c++": operandListed, "clang": operandListed,
	"clang++": operandListed, "rustc": operandListed, "ld": operandListed, "java": operandListed, "javac": operandListed,
	"sqlite3": operandSQLite, "psql": operandClient, "mysql": operandClient, "mariadb": operandClient,
}

// sedScripts returns the indexes of the words that hold a script. Where an option is not known, every word that could be a
// script is one.
func sedScripts(words []word) []int {
	var scripts, operands []int
	given, plain, options := false, true, true
	for i := 1; i < len(words); i++ {
		text := words[i].text
		switch {
		case !words[i].known:
			operands = append(operands, i)
			plain = plain && !words[i].many && words[i].prefix != ""
		case !options || len(text) < 2 || text[0] != '-':
			operands = append(operands, i)
		case text == "--":
			options = false
		case text == "-e" || text == "--expression":
			given = true
			if i+1 < len(words) {
				i++
				scripts = append(scripts, i)
			}
		case strings.HasPrefix(text, "--expression="), strings.HasPrefix(text, "-e"):
			given = true
			scripts = append(scripts, i)
		case text == "-f" || text == "--file" || strings.HasPrefix(text, "--file="):
			given = true // an executing option of the table
			if !strings.Contains(text, "=") {
				i++
			}
		case strings.HasPrefix(text, "-i"), strings.HasPrefix(text, "--in-place"):
		case strings.HasPrefix(text, "--"):
			if !listed("--quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox --debug", text) {
				plain, scripts = false, append(scripts, i) // --expr=… is an abbreviation
			}
		case strings.HasSuffix(text, "e") && strings.Trim(text[1:], "nErsuze") == "" && strings.Count(text, "e") == 1:
			given = true
			if i+1 < len(words) {
				i++
				scripts = append(scripts, i)
			}
		default:
			if strings.Trim(text[1:], "nErsuz") != "" {
				plain, scripts = false, append(scripts, i)
			}
		}
	}
	switch {
	case !plain:
		return append(scripts, operands...)
	case !given && len(operands) > 0:
		return append(scripts, operands[0])
	}
	return scripts
}

// harmlessBut names, for programs whose executing options mostly name a file, a directory or a server, the few options that
// run something. For a program that does not stand here every executing option counts as one that runs something.
var harmlessBut = map[string]string{}

func init() {
	for _, row := range [...]struct{ programs, runs string }{
		{"git", "-c --config-env --exec-path --git-dir --ext-diff --textconv --upload-pack --receive-pack --exec -u --config --template -O " +
			"--open-files-in-pager -x run foreach update --extcmd -t --tool --tree-filter --index-filter --msg-filter --commit-filter --env-filter " +
			"--parent-filter --tag-name-filter --setup --smtp-server --to-cmd --cc-cmd --header-cmd --sendmail-cmd config merge-index " +
			"merge-one-file remote-ext remote-fd fast-import daemon instaweb shell cvsserver p4 svn hook credential credential-store"},
		{"rg", "--pre --hostname-bin"}, {"ag ack", "--pager"}, {"sort", "--compress-program"},
		{"tar bsdtar gtar", "--to-command --checkpoint-action --use-compress-program -I --rsh-command --rmt-command --info-script --new-volume-script -F"},
		{"zip", "-TT --unzip-command"}, {"7z 7za unzip find tree date xxd shuf file wc du diff cp mv ln install patch xargs logger time gtime env uniq", ""},
		{"fd fdfind", "-x --exec -X --exec-batch"}, {"less more", "--cmd -k --lesskey-file --lesskey-src"}, {"sed gsed", "-f --file"},
		{"awk gawk mawk", "-f --file -i --include -l --load -E --exec"}, {"curl", "-K --config --engine"},
		{"wget", "-e --execute --config --use-askpass"}, {"ssh", "-o -F -S -I"}, {"scp sftp", "-o -F -S -D"},
		{"rsync", "-e --rsh --rsync-path --daemon --config -M --remote-option"},
		{"docker podman nerdctl docker-compose aws systemctl journalctl jq tsc strace ltrace", ""}, {"yq", ""},
		{"kubectl oc", "--kubeconfig"}, {"helm", "--post-renderer --kubeconfig --plugins-dir"}, {"terraform tofu", "-plugin-dir"},
		{"make gmake", "-f --file --makefile --eval"}, {"go", "-toolexec -exec -vettool -overlay -ldflags -gccgoflags -w"},
		{"cargo", "--config -Z"}, {"rustc", "-C --codegen -Z"},
		{"gcc g++ cc c++ clang clang++", "-wrapper -fplugin -specs -B -iplugindir -fuse-ld -Xclang -load"}, {"ld", "-plugin --plugin -T --script -dT"},
		{"npm pnpm yarn", "--script-shell --node-options --userconfig --globalconfig --init-module"}, {"pip pip3 uv", "--python --config-settings"},
		{"npx bunx", "-c --call --shell --node-options"},
		{"pytest", "-p -c --config-file -o --override-ini --pdbcls"}, {"gh", "alias extension"},
		{"mypy pylint flake8 ruff black", "--config --config-file --rcfile --load-plugins --init-hook --plugin-path --python-executable"},
		{"bat batcat", "--pager --config-file --config-dir"}, {"openssl", "-engine -provider -provider-path -config"},
	} {
		for program := range strings.FieldsSeq(row.programs) {
			harmlessBut[program] = row.runs
		}
	}
}

// carries says what in a command is code in another form than a command: an option or operand that runs a text or a
// program, or an assignment that a program runs. Deny and ask rules cannot see inside it.
func (c *command) carries() string {
	for _, o := range c.options {
		if o.dynamic || o.file {
			continue
		}
		runs, known := harmlessBut[c.base]
		if o.code || !known || listed(runs, o.spelling) {
			return "an option or operand of " + c.base + " that may run something"
		}
	}
	for _, a := range c.assigns {
		if !a.harmless(c.base) && codeName(a.name) && (!a.known || a.value != "") {
			return a.name + " may run something"
		}
	}
	if c.patches() {
		return "a patch whose targets are not known"
	}
	return ""
}

// patches reports whether the command applies a patch that does not stand in its words.
func (c *command) patches() bool {
	switch c.base {
	case "patch", "gpatch":
		return true
	case "git":
		at := subcommand("git", c.words)
		return at < len(c.words) && (c.words[at].text == "apply" || c.words[at].text == "am")
	case "apply_patch", "applypatch":
		return c.fed || !allLiteral(c.words) || len(c.words) < 2
	}
	return false
}

// codeName reports whether programs run, load or search what a variable of this name holds.
func codeName(name string) bool {
	upper := strings.ToUpper(name)
	for _, prefix := range [...]string{"LD_", "DYLD_", "GIT_CONFIG", "GIT_PROXY", "NPM_CONFIG_", "BASH_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	for _, suffix := range [...]string{"PAGER", "EDITOR", "ASKPASS", "_COMMAND", "_CMD", "_OPTIONS", "_OPTS", "_WRAPPER", "_SHELL", "PATH", "FLAGS", "OPT"} {
		if strings.HasSuffix(upper, suffix) {
			return true
		}
	}
	return codeVariables[name] || codeNames[upper]
}

var codeNames = set(`GIT_SSH GIT_EXTERNAL_DIFF GIT_DIR GIT_EXEC_PATH GIT_TEMPLATE_DIR LESSOPEN LESSCLOSE LESS MANOPT MANROFFOPT
	BROWSER VISUAL SHELL IFS PYTHONSTARTUP PYTHONHOME PERL5DB CC CXX LD AR MAKE RUSTC CARGO_HOME TAR_OPTIONS RSYNC_RSH CVS_RSH
	SVN_SSH HOME XDG_CONFIG_HOME ENV JQ_LIBRARY_PATH FZF_DEFAULT_COMMAND VIMINIT EXINIT MYVIMRC GDBINIT RIPGREP_CONFIG_PATH
	KUBECONFIG DOCKER_HOST SUDO_ASKPASS PROMPT_COMMAND AWKPATH ZDOTDIR RUBYLIB JAVA_TOOL_OPTIONS`)
