package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// dangerousFiles run code or redirect trust when they are written: by themselves, at the next commit, build or change
// of directory, and nobody looks at them first. Files that people run on purpose (Makefile, package.json) are
// ordinary, and so are the instructions of agents (AGENTS.md, CLAUDE.md), which are edited like any other text. All
// in lower case.
var dangerousFiles = set(`
	.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
	.kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsession .xsessionrc .pam_environment
	.gitconfig .gitmodules .git-credentials .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc
	.netrc _netrc .curlrc .wgetrc .ripgreprc .condarc .gemrc .irbrc .pryrc .rprofile .pythonrc .pdbrc .gdbinit .lldbinit
	.vimrc .gvimrc .exrc .nvimrc .emacs .tmux.conf .screenrc .psqlrc .sqliterc .my.cnf .mylogin.cnf .pgpass
	.terraformrc .boto .s3cfg .dockercfg .htpasswd .envrc .direnvrc
	.mcp.json .claude.json opencode.json opencode.jsonc .aider.conf.yml
	.gitlab-ci.yml .gitlab-ci.yaml .travis.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile
	.pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
	lefthook-local.yml .lefthook-local.yml .bazelrc mise.toml .mise.toml mise.local.toml .mise.local.toml .pnp.cjs
	authorized_keys authorized_keys2 config.fish sudoers crontab
	profile.ps1 microsoft.powershell_profile.ps1 microsoft.vscode_profile.ps1 microsoft.powershellise_profile.ps1
	powershell.config.json autoexec.bat`)

// dangerousDirs are directories whose content programs trust or run. A row of several names matches them in a row.
var dangerousDirs = [][]string{
	{".git"}, {".hg"}, {".svn"}, {".bzr"}, {".jj"}, {".vscode"}, {".vscode-server"}, {".idea"}, {".fleet"}, {".zed"},
	{".ssh"}, {".gnupg"}, {".aws"}, {".azure"}, {".kube"}, {".docker"}, {".password-store"},
	{".claude"}, {".codex"}, {".agents"}, {".gemini"}, {".opencode"}, {".cursor"}, {".windsurf"}, {".qwen"}, {".cline"},
	{".copilot"}, {".continue"}, {".kiro"}, {".roo"}, {".countersign"}, {".husky"}, {".githooks"}, {".devcontainer"},
	{".cargo", "config.toml"}, {".cargo", "config"}, {".mvn"}, {".yarn"}, {".amazonq"}, {".clinerules"}, {".mise"},
	{".config", "mise"}, {".github", "workflows"}, {".github", "actions"}, {".circleci"}, {".gitlab", "ci"},
	{".config", "autostart"}, {".config", "systemd"}, {".config", "fish"}, {".config", "git"}, {".config", "gcloud"},
	{".config", "gh"}, {".config", "opencode"}, {".config", "countersign"}, {".local", "share", "systemd"},
	{"library", "launchagents"}, {"library", "launchdaemons"}, {"library", "keychains"},
	{"start menu", "programs", "startup"},
	{"documents", "powershell", "modules"}, {"documents", "windowspowershell", "modules"},
	{"windows", "system32", "drivers", "etc", "hosts"}, {"windows", "system32", "tasks"},
}

// secretFiles hold credentials. All in lower case.
var secretFiles = set(`
	.netrc _netrc .pgpass .my.cnf .mylogin.cnf .npmrc .yarnrc.yml .pypirc .git-credentials .dockercfg .boto .s3cfg
	.htpasswd .envrc .vault-token .terraformrc credentials credentials.json credentials.yml credentials.yaml
	.credentials.json .credentials auth.json secrets.json secrets.yml secrets.yaml secrets.toml
	id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk shadow gshadow master.key service-account.json
	service_account.json application_default_credentials.json kubeconfig terraform.tfstate login.keychain-db
	cookies.sqlite logins.json key4.db .bash_history .zsh_history .psql_history .python_history .claude.json`)

// secretSuffixes end the names of key material.
var secretSuffixes = [...]string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfstate", ".keytab"}

// secretDirs are directories of secret material.
var secretDirs = [][]string{
	{".ssh"}, {".gnupg"}, {".aws"}, {".azure"}, {".kube"}, {".docker"}, {".password-store"}, {".config", "gcloud"},
	{".config", "gh"}, {".config", "google-chrome"}, {".config", "chromium"}, {".config", "bravesoftware"},
	{".mozilla"}, {".thunderbird"}, {".local", "share", "keyrings"}, {".gemini"}, {".codex"},
	{"library", "keychains"}, {"library", "application support", "google", "chrome"},
	{"library", "application support", "firefox"}, {"library", "cookies"},
	{"google", "chrome", "user data"}, {"microsoft", "credentials"}, {"microsoft", "protect"}, {"mozilla", "firefox"},
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		out[name] = true
	}
	return out
}

// plainNames reduces the components of a path to what any platform might take them for: folded, without a stream, and
// without the dots and spaces that Windows drops. Components of the root that holds the path are left out: an owner who
// works below .claude/worktrees said so.
func plainNames(p pathid.Platform, roots []string, path string) []string {
	parts, _ := pathid.Components(p, path)
	skip := 0
	for _, root := range roots {
		if pathid.Contains(p, root, path) {
			rootParts, _ := pathid.Components(p, root)
			skip = max(skip, len(rootParts))
		}
	}
	parts = parts[min(skip, len(parts)):]
	out := make([]string, len(parts))
	for i, part := range parts {
		if !(p.IsWindows() && i == 0) {
			part, _, _ = strings.Cut(part, ":")
		}
		out[i] = strings.TrimRight(strings.ToLower(pathid.Key(pathid.MacOS, part)), ". ")
	}
	return out
}

// dangerousIn names the dangerous file or directory that a path of these plain names is or lies in, or "".
func dangerousIn(names []string) string {
	for i, name := range names {
		if dangerousFiles[name] || isEnvFile(name) {
			return name
		}
		if at := inTable(dangerousDirs, names[i:]); at != "" {
			return at
		}
		if at := shortNameOf(name); at != "" {
			return at
		}
	}
	return ""
}

// isEnvFile recognises .env and .env.local, and leaves out what is committed as an example.
func isEnvFile(name string) bool {
	if name == ".env" {
		return true
	}
	rest, ok := strings.CutPrefix(name, ".env.")
	switch rest {
	case "example", "sample", "template", "dist", "defaults", "schema":
		return false
	}
	return ok || strings.HasPrefix(name, ".env-") || strings.HasPrefix(name, ".env_")
}

func inTable(table [][]string, names []string) string {
	for _, row := range table {
		if len(row) > len(names) {
			continue
		}
		match := true
		for i, part := range row {
			match = match && names[i] == part
		}
		if match {
			return strings.Join(row, "/")
		}
	}
	return ""
}

// shortNameOf says which dangerous name an 8.3 name may stand for: GIT~1 is .git.
func shortNameOf(name string) string {
	if pathid.Suspicious(name) != pathid.SuspiciousShortName {
		return ""
	}
	for _, row := range dangerousDirs {
		if couldBeShort(row[0], name) {
			return row[0]
		}
	}
	for long := range dangerousFiles {
		if couldBeShort(long, name) {
			return "a dangerous file" // which one depends on the map's order, so none is named
		}
	}
	if couldBeShort(".env", name) {
		return ".env"
	}
	return ""
}

// couldBeShort reports whether short (in lower case) has the form that Windows may have generated for long: up to six
// characters of the base without spaces and dots, a tilde and a number, and up to three characters of the extension;
// after a few collisions only two characters and a hash are kept.
func couldBeShort(long, short string) bool {
	base, ext, _ := strings.Cut(short, ".")
	stem, digits, ok := strings.Cut(base, "~")
	if !ok || digits == "" {
		return false
	}
	if i := strings.IndexAny(long, "*?[{"); i >= 0 {
		// Of a pattern only what stands before its first sign is sure: *folder may be a name whose short one is
		// SECRET~1.
		sure := flatName(strings.ToLower(strings.TrimLeft(long[:i], ". ")))
		return strings.HasPrefix(sure, stem) || strings.HasPrefix(stem, sure)
	}
	long = strings.ToLower(strings.TrimLeft(long, ". "))
	longExt := ""
	if i := strings.LastIndexByte(long, '.'); i >= 0 {
		long, longExt = long[:i], long[i+1:]
	}
	if !strings.HasPrefix(longExt, ext) && !strings.HasPrefix(ext, longExt) || len(ext) > 3 || ext == "" && longExt != "" {
		return false
	}
	long = flatName(long)
	if strings.HasPrefix(long, stem) {
		return true
	}
	return len(stem) >= 2 && len(long) >= 2 && stem[:2] == long[:2] && strings.Trim(stem[2:], "0123456789abcdef") == ""
}

// flatName is what Windows keeps of a name when it makes a short one.
func flatName(long string) string {
	var flat strings.Builder
	for _, r := range long {
		switch {
		case r == ' ' || r == '.':
		case strings.ContainsRune("+,;=[]", r) || r > 0x7f:
			flat.WriteByte('_')
		default:
			flat.WriteRune(r)
		}
	}
	return flat.String()
}

// secretPath names the secret material that path is or lies in, or "".
func secretPath(p pathid.Platform, roots []string, path string) string {
	return secretIn(p, plainNames(p, roots, path))
}

func secretIn(p pathid.Platform, names []string) string {
	for i, name := range names {
		if secretFiles[name] || isEnvFile(name) {
			return name
		}
		if at := inTable(secretDirs, names[i:]); at != "" {
			return at
		}
	}
	if len(names) == 0 {
		return ""
	}
	last := names[len(names)-1]
	for _, suffix := range secretSuffixes {
		if strings.HasSuffix(last, suffix) {
			return "*" + suffix
		}
	}
	if p != pathid.Windows && len(names) >= 2 && names[0] == "proc" {
		switch last {
		case "environ", "mem", "maps", "cmdline", "auxv", "kcore", "keys":
			return "/proc/…/" + last
		}
	}
	if p.IsWindows() {
		return shortSecret(last)
	}
	return ""
}

// shortSecret refuses to tell what an 8.3 name stands for; a revision such as HEAD~1 only looks like one.
func shortSecret(name string) string {
	if strings.HasPrefix(name, "head~") {
		return ""
	}
	if pathid.Suspicious(name) == pathid.SuspiciousShortName {
		return "a short name"
	}
	return ""
}
