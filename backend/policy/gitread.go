package policy

import (
	"errors"
	"strings"
	"syscall"

	"countersign/backend/pathid"
)

// gitSpecs are the subcommands of git that only read, with the options that stay so.
var gitSpecs = map[string]*safeSpec{
	"status":        {short: "sbvz", shortOpt: "u", long: "short branch show-stash porcelain? long untracked-files? ignored? ignore-submodules? column? no-column ahead-behind no-ahead-behind renames no-renames find-renames? null", paths: -1},
	"log":           {short: gitLogShort, shortArg: gitLogArg, number: true, long: gitLogLong, paths: -1},
	"show":          {short: gitLogShort, shortArg: gitLogArg, number: true, long: gitLogLong, paths: -1},
	"diff":          {short: gitLogShort, shortArg: gitLogArg, long: gitLogLong + " cached staged merge-base", paths: -1},
	"whatchanged":   {short: gitLogShort, shortArg: gitLogArg, number: true, long: gitLogLong, paths: -1},
	"diff-tree":     {short: "rtpuszcmR", long: gitLogLong + " root no-commit-id", paths: -1, min: 1},
	"shortlog":      {short: "nsec", long: "numbered summary email committer all no-merges since= until= group=", paths: -1},
	"blame":         {short: "bclefnpswtM", shortArg: "L", long: "porcelain line-porcelain show-email show-name show-number abbrev? date= root incremental", paths: -1, min: 1},
	"annotate":      {short: "lft", paths: -1, min: 1},
	"branch":        {short: "arv", long: "list all remotes verbose show-current contains= no-contains= merged? no-merged? sort= column? no-column abbrev? no-abbrev color? no-color points-at= format=", paths: -1, check: gitBranch},
	"tag":           {short: "l", shortArg: "n", long: "list contains= merged? sort= points-at= format= column? no-column", paths: -1, check: gitList},
	"remote":        {short: "v", long: "verbose", paths: 2, check: gitRemote},
	"stash":         {check: gitStash, words: true},
	"rev-parse":     {long: "abbrev-ref? short? verify quiet show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository symbolic symbolic-full-name all branches? tags? remotes? show-superproject-working-tree", short: "q", paths: -1},
	"rev-list":      {short: "n", shortArg: "", number: true, long: "count all max-count= since= until= author= no-merges merges first-parent reverse left-right parents left-only right-only abbrev-commit oneline", paths: -1},
	"ls-files":      {short: "cdmoistuzv", long: "cached deleted modified others ignored stage unmerged killed exclude-standard full-name abbrev? eol error-unmatch deduplicate", paths: -1},
	"ls-tree":       {short: "drtlz", long: "name-only name-status full-name full-tree long abbrev? object-only", paths: -1, min: 1},
	"cat-file":      {short: "tsep", paths: 1, min: 1},
	"merge-base":    {short: "a", long: "all octopus independent is-ancestor fork-point", paths: -1, min: 1},
	"describe":      {long: "all tags contains long always abbrev? first-parent exact-match match= exclude= dirty? broken? candidates=", paths: -1},
	"name-rev":      {long: "name-only tags refs= all always", paths: -1},
	"reflog":        {check: gitReflog, words: true},
	"worktree":      {check: gitWorktrees, words: true},
	"count-objects": {short: "vH", long: "verbose human-readable"},
	"for-each-ref":  {long: "sort= format= count= contains= merged= points-at=", paths: -1},
	"show-ref":      {short: "dqs", long: "heads tags head verify hash? dereference abbrev? branches", paths: -1},
	"check-ignore":  {short: "qvn", long: "quiet verbose non-matching no-index", paths: -1, min: 1},
	"version":       {},
	"config":        {long: "get get-all get-regexp local type= bool int", check: gitConfigGet, paths: 2},
}

const (
	gitLogShort = "pusbwzaRcEFGimPgqBMCD"
	gitLogArg   = "nSUGL"
	gitLogLong  = "oneline stat? shortstat name-only name-status numstat dirstat? summary graph no-graph decorate? no-decorate all branches? tags? remotes? no-merges merges first-parent " +
		"since= until= after= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp " +
		"patch no-patch unified= raw format= pretty? abbrev? no-abbrev abbrev-commit no-abbrev-commit date= relative-date reverse follow topo-order date-order author-date-order " +
		"max-count= skip= color? no-color color-words? word-diff? word-diff-regex= patience minimal histogram diff-algorithm= diff-filter= find-renames? find-copies? no-renames " +
		"ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines check exit-code quiet full-index binary text no-ext-diff no-textconv relative? compact-summary " +
		"full-history simplify-merges left-right cherry-pick cherry cherry-mark no-notes source function-context inter-hunk-context= src-prefix= dst-prefix= no-prefix submodule? ignore-submodules? shortstat parents children cc boundary left-only right-only no-walk? no-color-moved color-moved? stat-width= stat-count= reflog"
)

// gitReads judges a git command: a known reading subcommand with known options, paths inside the roots that are not
// secret, in a repository whose configuration names no program.
func gitReads(x *analysis, c *command, operands []word, _ []string) string {
	i := 0
	for i < len(operands) && (operands[i].text == "--no-pager" || operands[i].text == "--no-optional-locks") {
		i++
	}
	if i == len(operands) {
		return "git without a subcommand"
	}
	name := operands[i].text
	if name == "--version" || name == "version" {
		if i+1 == len(operands) {
			return ""
		}
		return "git with more than --version"
	}
	spec := gitSpecs[name]
	if spec == nil {
		return "git " + name
	}
	rest, flags, why := spec.parse(operands[i+1:])
	if why != "" {
		return why
	}
	if len(rest) < spec.min {
		return "too few operands"
	}
	if spec.check != nil {
		if why := spec.check(x, c, rest, flags); why != "" {
			return why
		}
	}
	for _, flag := range flags {
		if strings.Contains(flag, "%G") || strings.Contains(flag, "signature") {
			return "a format that runs gpg"
		}
		if lines, ok := strings.CutPrefix(flag, "-L="); ok {
			if why := x.gitOperand(c, strings.TrimLeft(lines, ":")); why != "" {
				return why // -L1,5:path
			}
		}
	}
	patterns := !gitShows[name] || name == "log" && !hasFlag(flags, gitPatchFlags)
	if name == "reflog" || name == "stash" {
		rest = nil // judged by its check
	}
	for _, w := range rest {
		if !patterns && strings.ContainsAny(w.text, "*?[") {
			return "a pattern that git expands"
		}
		if why := x.gitOperand(c, w.text); why != "" {
			return why
		}
	}
	if why := x.gitRepositories(c); why != "" {
		return why
	}
	if name == "remote" && x.looked.token && (len(rest) > 0 || len(flags) > 0) {
		return "may print a credential"
	}
	return ""
}

// gitRepositories judges the repository that the command works in.
func (x *analysis) gitRepositories(c *command) string {
	if c.moved {
		// A cd inside the roots may have entered a repository of its own: each possible one is looked at.
		for _, at := range c.at.list {
			if why := x.gitRepository(at.physical); why != "" {
				return why
			}
		}
		if c.at.unknown {
			return "a directory that is not known"
		}
		return ""
	}
	return x.gitRepository(x.f.cwd)
}

// gitShows are the subcommands that print what files hold.
var gitShows = set("show diff diff-tree whatchanged blame annotate log cat-file")

// gitPatchFlags make git log print what files hold.
const gitPatchFlags = "-p -u --patch -U --unified -c --cc -W --function-context --word-diff --word-diff-regex --color-words -L -m " +
	"--inter-hunk-context --binary"

// gitOperand judges a revision or path. Outside a repository, or with a path outside of it, git diff and git grep read
// any file they are given.
func (x *analysis) gitOperand(c *command, text string) string {
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, ":(") {
		return "an operand that git may read in another way"
	}
	for _, path := range revisionPaths(text) { // REV:PATH, :0:PATH
		if why := x.gitPath(c, path); why != "" {
			return why
		}
	}
	return ""
}

func (x *analysis) gitPath(c *command, path string) string {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		if part == ".." {
			return "a path outside the directory"
		}
	}
	if strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") || len(path) > 1 && path[1] == ':' {
		return "an absolute path"
	}
	for _, at := range c.at.list {
		abs, err := pathid.Abs(x.platform, at.physical, path)
		if err != nil {
			return "a path that cannot be resolved"
		}
		if secret := secretPath(x.platform, x.f.call.Roots, abs); secret != "" {
			return "secret material (" + secret + ")"
		}
		if r, err := pathid.Resolve(x.platform, x.view, abs); err != nil || !x.insideRoots(r.Path) || secretPath(x.platform, x.f.call.Roots, r.Path) != "" {
			return "a path that leads elsewhere"
		}
	}
	return ""
}

func gitBranch(_ *analysis, _ *command, operands []word, flags []string) string {
	if len(operands) > 0 && !hasFlag(flags, "--list --merged --no-merged --contains --no-contains --points-at") {
		return "creates a branch"
	}
	return ""
}

func gitList(_ *analysis, _ *command, operands []word, flags []string) string {
	if len(operands) > 0 && !hasFlag(flags, "--list -l") {
		return "creates a tag"
	}
	return ""
}

func gitRemote(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) == 0 || len(operands) == 2 && operands[0].text == "get-url" {
		return ""
	}
	return "git remote " + operands[0].text
}

func gitStash(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) == 1 && operands[0].text == "list" {
		return ""
	}
	if len(operands) > 0 && operands[0].text == "show" {
		for _, w := range operands[1:] {
			if !listed("-p --patch --stat --name-only --name-status stash@{0} stash@{1} stash@{2}", w.text) {
				return "git stash show " + w.text
			}
		}
		return ""
	}
	return "changes the stash"
}

func gitReflog(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) == 0 || len(operands) == 1 && operands[0].text == "show" {
		return ""
	}
	if text := operands[0].text; len(operands) == 1 && len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "0123456789") == "" {
		return ""
	}
	return "git reflog with more than show"
}

func gitWorktrees(_ *analysis, _ *command, operands []word, _ []string) string {
	if len(operands) == 1 && operands[0].text == "list" {
		return ""
	}
	return "changes worktrees"
}

func gitConfigGet(_ *analysis, _ *command, operands []word, flags []string) string {
	if len(operands) == 1 && len(flags) == 0 && listed("user.name user.email init.defaultBranch", operands[0].text) {
		return ""
	}
	if len(operands) != 1 || !hasFlag(flags, "--get") {
		return "may change the configuration"
	}
	key := strings.ToLower(operands[0].text)
	for _, word := range [...]string{"credential", "token", "password", "helper", "extraheader", "url"} {
		if strings.Contains(key, word) {
			return "may print a credential"
		}
	}
	return ""
}

const (
	maxGitConfig = 256 << 10
	maxGitFile   = 4 << 10
)

// gitRepository judges the repository that git would find from dir: git runs programs that its configuration names.
func (x *analysis) gitRepository(dir string) string {
	if why, ok := x.looked.git[dir]; ok {
		return why
	}
	if x.looked.git == nil {
		x.looked.git = map[string]string{}
	}
	why := x.judgeRepository(dir)
	x.looked.git[dir] = why
	return why
}

func (x *analysis) judgeRepository(dir string) string {
	root, found := pathid.RepositoryRoot(x.view, dir)
	for here := dir; ; here = pathid.Dir(x.platform, here) {
		if why := x.bareRepository(here); why != "" {
			return why
		}
		if found && here == root || here == pathid.Dir(x.platform, here) {
			break
		}
	}
	if !found {
		return ""
	}
	git := pathid.Join(x.platform, root, ".git")
	info, err := x.view.Lstat(git)
	if err == nil && info.Mode.IsRegular() {
		return x.gitWorktree(git, root)
	}
	if err != nil || !info.Mode.IsDir() {
		return "a repository whose directory lies elsewhere"
	}
	if why := x.gitDirectory(git); why != "" {
		return why
	}
	return x.gitNested(git, git, root)
}

// gitWorktree judges a linked worktree: its .git is a file that names a directory inside the main repository's.
func (x *analysis) gitWorktree(file, root string) string {
	const elsewhere = "a repository whose directory lies elsewhere"
	text, err := x.view.ReadFile(file, maxGitFile)
	if err != nil {
		return elsewhere
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\n"), "gitdir: ")
	if !ok || strings.ContainsAny(name, "\n\r") {
		return elsewhere
	}
	dir, err := pathid.Abs(x.platform, root, name)
	if err != nil {
		return elsewhere
	}
	parent := pathid.Dir(x.platform, dir)
	common := pathid.Dir(x.platform, parent)
	if pathid.Base(x.platform, parent) != "worktrees" || pathid.Base(x.platform, common) != ".git" {
		return elsewhere // a submodule, or something unusual
	}
	shared, err := x.view.ReadFile(pathid.Join(x.platform, dir, "commondir"), maxGitFile)
	if err != nil || strings.TrimSpace(string(shared)) != "../.." {
		return elsewhere
	}
	if r, err := pathid.Resolve(x.platform, x.view, dir); err != nil || r.Path != dir {
		return elsewhere
	}
	if _, err := x.view.Lstat(pathid.Join(x.platform, dir, "config.worktree")); !notExist(err) {
		return "the worktree has a configuration of its own"
	}
	if why := x.gitDirectory(common); why != "" {
		return why
	}
	return x.gitNested(dir, common, root)
}

// gitDirectory judges one .git directory.
func (x *analysis) gitDirectory(git string) string {
	config := pathid.Join(x.platform, git, "config")
	info, err := x.view.Lstat(config)
	switch {
	case notExist(err):
	case err != nil || !info.Mode.IsRegular():
		return "a repository whose configuration cannot be read"
	default:
		text, err := x.view.ReadFile(config, maxGitConfig)
		if err != nil {
			return "a repository whose configuration cannot be read"
		}
		x.looked.token = x.looked.token || addressWithPassword(string(text))
		if key := unsafeGitConfig(string(text)); key != "" {
			return "the repository's configuration sets " + key
		}
	}
	for _, name := range [...]string{"config.worktree", "hooks/post-index-change", "hooks/fsmonitor-watchman", "commondir", "modules"} {
		path := git
		for part := range strings.SplitSeq(name, "/") {
			path = pathid.Join(x.platform, path, part)
		}
		if _, err := x.view.Lstat(path); !notExist(err) {
			return "the repository has " + name
		}
	}
	return ""
}

// addressWithPassword reports whether a configuration holds an address of the web with something before its host.
func addressWithPassword(text string) bool {
	for _, scheme := range [...]string{"http://", "https://"} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, scheme)
			if !ok {
				break
			}
			host := after
			if i := strings.IndexAny(after, "/\n\"? "); i >= 0 {
				host = after[:i]
			}
			if strings.Contains(host, "@") {
				return true
			}
			rest = after
		}
	}
	return false
}

// bareRepository notices a directory that git takes for a repository without a .git: its config would be obeyed.
func (x *analysis) bareRepository(dir string) string {
	for _, name := range [...]string{"HEAD", "objects", "refs"} {
		if _, err := x.view.Lstat(pathid.Join(x.platform, dir, name)); err != nil {
			if notExist(err) || isNotDir(err) {
				return ""
			}
			return "a directory that cannot be read"
		}
	}
	return "a directory that looks like a bare repository"
}

func isNotDir(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, pathid.ErrNotDirectory)
}

// safeGitKeys are the configuration keys that name no program, file or other configuration. "*" stands for any subsection.
var safeGitKeys = set(`
	core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode
	core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.untrackedcache core.preloadindex
	core.commentchar core.compression core.longpaths core.trustctime core.checkstat core.whitespace core.sharedrepository
	core.protecthfs core.protectntfs core.splitindex core.bigfilethreshold core.loosecompression core.createobject
	extensions.objectformat extensions.refstorage
	remote.*.url remote.*.fetch remote.*.pushurl remote.*.push remote.*.tagopt remote.*.prune remote.*.mirror
	remote.*.skipdefaultupdate remote.pushdefault branch.*.remote branch.*.merge branch.*.rebase branch.*.pushremote
	branch.*.description branch.autosetuprebase branch.autosetupmerge branch.sort branch.*.vscode-merge-base
	branch.*.gk-last-accessed branch.*.github-pr-owner-number
	user.name user.email user.signingkey user.useconfigonly author.name author.email committer.name committer.email
	init.defaultbranch color.ui color.branch color.diff color.status color.interactive color.pager column.ui
	push.default push.autosetupremote push.followtags pull.rebase pull.ff fetch.prune fetch.parallel
	merge.conflictstyle merge.ff merge.renames diff.algorithm diff.renames diff.colormoved diff.mnemonicprefix
	diff.noprefix diff.renamelimit diff.context status.showuntrackedfiles status.short status.branch
	commit.gpgsign tag.gpgsign tag.sort log.date log.decorate log.abbrevcommit log.follow rebase.autosquash rebase.autostash
	rerere.enabled rerere.autoupdate gc.auto gc.autodetach gc.prune help.autocorrect advice.detachedhead
	feature.manyfiles index.version lfs.repositoryformatversion maintenance.auto maintenance.strategy pack.threads
	receive.denycurrentbranch safe.directory`)

// unsafeGitConfig returns the first key of a configuration that is not known to be harmless, or "". It reads the plain
// form only: anything unusual is unsafe.
func unsafeGitConfig(text string) string {
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case strings.HasSuffix(line, `\`):
			return "a continued line"
		case line[0] == '[':
			if !strings.HasSuffix(line, "]") || strings.Count(line, "]") != 1 {
				return "an unusual section"
			}
			inner := line[1 : len(line)-1]
			name, sub, quoted := strings.Cut(inner, " ")
			section = strings.ToLower(name)
			if quoted {
				sub = strings.TrimSpace(sub)
				if len(sub) < 2 || sub[0] != '"' || sub[len(sub)-1] != '"' {
					return "an unusual section"
				}
				section += ".*"
			} else if head, _, dotted := strings.Cut(section, "."); dotted {
				section = head + ".*"
			}
			continue
		}
		key, _, _ := strings.Cut(line, "=")
		key = section + "." + strings.ToLower(strings.TrimSpace(key))
		if !safeGitKeys[key] {
			return key
		}
	}
	return ""
}
