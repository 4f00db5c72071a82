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
	{"tar bsdtar gtar", "", "--to-command --checkpoint-action --use-compress-program -I --rsh-command --rmt-command --info-script --new-volume-script -F -T --files-from -C --directory -P --absolute-names --index-file --volno-file"},
	{"zip", "", "-T -TT --unzip-command -m --move"},
	{"7z 7za", "", "-o -si -so"},
	{"unzip", "", "-d"},
	{"ssh", "", "-o -F -E -S -L -R -D -W -w -J -I"},
	{"scp sftp", "", "-o -F -S -J -i -D -P"},
	{"rsync", "", "-e --rsh --rsync-path --files-from --log-file --backup-dir --partial-dir --write-batch --daemon --config -M --remote-option"},
	{"find", "", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"},
	{"fd fdfind", "", "-x --exec -X --exec-batch --ignore-file"},
	{"man", "", "-P --pager -H --html -C --config-file -M --manpath -l --local-file -T --troff-device -X --preprocessor -p"},
	{"less more", "", "-o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src -t --tag-file -T"},
	{"sed gsed", "", "-i --in-place -f --file"},
	{"awk gawk mawk", "", "-f --file -i --include -l --load -E --exec -o --pretty-print -p --profile -d --dump-variables"},
	{"tree", "", "-o --output --fromfile"},
	{"date", "", "-s --set -f --file"},
	{"split", "", "--filter"},
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
	if w.known && !w.glob || w.tame || spelling[0] != '-' && !w.many {
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
