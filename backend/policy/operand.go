package policy

import (
	"strings"
)

// usage says what a program does with its operands as files. It serves deny and ask rules, dangerous paths and fixed
// constraints, so naming too many files is the safe side.
type usage struct {
	read      bool   // operands are read
	write     bool   // operands are written
	last      bool   // the last operand is written, the others are read
	skip      int    // operands that are no files (grep's pattern, chmod's mode)
	remove    bool   // writing means removing or moving away
	removeSrc bool   // with last: the others are removed too (mv)
	values    string // letters whose value is no file
	valueLong string // long options whose value is no file, space-separated
	reads     string // options (-f, --file) whose value is read
	writes    string // options whose value is written
	atReads   string // options whose value is read when it is @file
	noSkip    string // options that make the first operand a file after all (grep -e)
	recursive string // letters or long options that make operands reach what is below; "*" always
	hidden    bool   // recursion leaves out hidden names unless told otherwise
	inPlace   string // options that turn reads into writes (sed -i)
}

var usages = map[string]*usage{}

func init() { // the table is written by kind; this only spreads it by name
	for _, row := range usageTable {
		for name := range strings.FieldsSeq(row.names) {
			u := row.usage
			usages[name] = &u
		}
	}
}

var usageTable = []struct {
	names string
	usage
}{
	{"cat tac nl rev less more most bat batcat pg zcat bzcat xzcat zless zmore strings od xxd hexdump hd base64 base32 " +
		"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum file stat wc fold fmt expand unexpand " +
		"pr column paste comm cmp join look tsort ptx colrm csvlook glow mdcat view readelf objdump nm ldd size " +
		"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 gpg gpg2 age sops open xdg-open start type Get-Content " +
		"notepad code subl pico python python3 node ruby perl php lua bash sh zsh dash ksh fish source . mapfile readarray lp lpr " +
		"basenc uuencode iconv dos2unix uniq shuf tail head pv dot plutil defaults",
		usage{read: true, values: "nckwd", valueLong: "--lines --bytes --width"}},
	{"grep egrep fgrep zgrep bzgrep xzgrep", usage{read: true, skip: 1, values: "ABCmde", noSkip: "-e --regexp -f --file",
		valueLong: "--regexp --after-context --before-context --context --max-count --include --exclude --exclude-dir --color --colour --label --binary-files --devices --directories",
		reads:     "-f --file --exclude-from", recursive: "rR --recursive --dereference-recursive"}},
	{"rgrep", usage{read: true, skip: 1, values: "ABCmde", noSkip: "-e --regexp", recursive: "*"}},
	{"rg ag ack ugrep", usage{read: true, skip: 1, values: "ABCmegtTjMdE", noSkip: "-e --regexp --files --file", valueLong: "--regexp --glob --iglob --type --type-not --max-count --after-context --before-context --context --max-depth --threads --replace --color --colors --sort --sortr --encoding --engine --max-filesize --max-columns --context-separator --pre --pre-glob",
		reads: "-f --file --ignore-file", recursive: "*", hidden: true}},
	{"sed gsed", usage{read: true, skip: 1, values: "eEls", noSkip: "-e --expression -f --file", valueLong: "--expression --line-length",
		reads: "-f --file", inPlace: "i --in-place"}},
	{"awk gawk mawk nawk", usage{read: true, skip: 1, values: "FvE", noSkip: "-f --file", valueLong: "--field-separator --assign", reads: "-f --file -i --include -l"}},
	{"jq yq gojq jaq", usage{read: true, skip: 1, noSkip: "-f --from-file", valueLong: "--arg --argjson --indent",
		reads: "-f --from-file --slurpfile --rawfile -L", inPlace: "i --inplace"}},
	{"cut tr", usage{read: true, values: "bcdf", valueLong: "--delimiter --fields --bytes --characters --output-delimiter"}},
	{"sort", usage{read: true, values: "kSt", valueLong: "--key --field-separator --buffer-size --parallel --batch-size --compress-program", reads: "--files0-from --random-source", writes: "-o --output -T --temporary-directory"}},
	{"diff sdiff colordiff delta diff3 vimdiff icdiff", usage{read: true, values: "CUIWFx", valueLong: "--unified --context --color --label --exclude --width", writes: "-o --output", reads: "--from-file --to-file --exclude-from", recursive: "r --recursive"}},
	{"find fd fdfind bfs", usage{}}, // findOperands
	{"ls dir vdir tree exa eza lsd du df realpath readlink basename dirname", usage{}},
	{"cp gcp install", usage{last: true, values: "StmogZ", valueLong: "--suffix --backup --preserve --no-preserve --reflink --sparse --mode --owner --group", writes: "-t --target-directory", recursive: "rRa --recursive --archive"}},
	{"rsync scp", usage{last: true, values: "eBiFlPoScJ", valueLong: "--rsh --exclude --include --bwlimit --chmod --rsync-path", reads: "--files-from --exclude-from --include-from --password-file -F -i", writes: "--log-file", recursive: "rRa --recursive --archive"}},
	{"mv gmv", usage{last: true, removeSrc: true, values: "S", valueLong: "--suffix --backup", writes: "-t --target-directory", recursive: "*"}},
	{"ln gln link", usage{last: true, values: "S", valueLong: "--suffix --backup", writes: "-t --target-directory"}},
	{"tee sponge", usage{write: true}},
	{"touch truncate mkdir mkfifo mknod fallocate setfacl", usage{write: true, values: "drstmlZo", valueLong: "--date --reference --time --size --mode --length --offset"}},
	{"rm grm unlink rmdir shred srm trash trash-put wipe del erase rd Remove-Item", usage{write: true, remove: true, values: "ns", valueLong: "--interactive --iterations --size", recursive: "rR --recursive -Recurse /s"}},
	{"chmod chown chgrp chattr gchmod", usage{write: true, skip: 1, reads: "--reference", noSkip: "--reference", recursive: "R --recursive"}},
	{"dd", usage{}}, // ddOperands
	{"tar bsdtar gtar", usage{read: true, reads: "-T --files-from -X --exclude-from", valueLong: "--exclude --transform --strip-components --owner --group --mode --mtime", writes: "-f --file -C --directory", recursive: "*"}},
	{"zip 7z 7za rar", usage{read: true, writes: "-b", values: "xi", recursive: "rR"}},
	{"unzip unrar", usage{read: true, writes: "-d", values: "x"}},
	{"split csplit", usage{read: true, values: "abClnt", valueLong: "--lines --bytes --suffix-length --number"}},
	{"patch", usage{write: true, values: "pFBVYzgD", reads: "-i --input", writes: "-o --output -r --reject-file -d --directory"}},
	{"curl", usage{values: "AHXeuUxmyYzCrQtPw", atReads: "-d --data --data-binary --data-ascii --data-urlencode -F --form --json", reads: "-T --upload-file -K --config --cacert -E --cert --key --netrc-file -b --cookie", writes: "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --output-dir --libcurl --hsts --etag-save"}},
	{"wget", usage{values: "AItTwQUelDRX", reads: "--post-file --body-file -i --input-file --load-cookies --config --ca-certificate --certificate --private-key", writes: "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file"}},
	{"vi vim nvim nano emacs ed ex micro helix hx joe", usage{read: true, write: true, values: "cS+"}},
	{"openssl", usage{reads: "-in -inkey -key -CAfile -config -kfile -pass", writes: "-out -keyout -writerand"}},
	{"mount umount", usage{write: true, values: "otLU"}},
	{"mkfs mkswap wipefs blkdiscard fdisk sfdisk parted gdisk sgdisk cfdisk", usage{write: true}},
	{"ssh-keygen", usage{writes: "-f"}},
	{"git", usage{}},
}

// option value kinds of a program's words.
type operandWord struct {
	word
	role byte // 'o' operand, 'r' value that is read, 'w' value that is written
}

// operands records what a command reads and writes.
func (x *analysis) operands(c *command, at int, dirs places) {
	if len(c.words) == 0 {
		return
	}
	base := strings.ToLower(c.base)
	u := usages[c.base]
	if u == nil {
		u = usages[base]
	}
	if u == nil && strings.HasPrefix(base, "mkfs.") {
		u = usages["mkfs"]
	}
	if u == nil && interpreterName(c.base) {
		u = usages["python"]
	}
	first := len(x.f.accesses)
	switch base {
	case "dd":
		x.ddOperands(c, dirs)
	case "find", "fd", "fdfind", "bfs":
		x.findOperands(c, dirs)
	case "apply_patch", "applypatch":
		for _, w := range c.words[1:] {
			for _, target := range patchTargets(w.text) {
				x.access(lit(target), access{write: true, denyOnly: c.denyOnly, command: at}, dirs)
			}
		}
	case "git":
		x.gitOperands(c, dirs)
	case "powershell", "pwsh", "cmd":
		x.foreignIn(at)
		return // what the text does belongs to the commands in it
	case "script":
		x.access(lit("typescript"), access{write: true, denyOnly: true}, dirs) // where no other file is named
	case "ls", "dir", "vdir", "tree", "exa", "eza", "lsd", "du", "realpath", "readlink", "stat", "file":
		x.listed(c, dirs)
	default:
		if u != nil {
			x.use(c, u, dirs)
		}
	}
	for i := first; i < len(x.f.accesses); i++ {
		a := &x.f.accesses[i]
		a.command = at
		a.denyOnly = a.denyOnly || c.denyOnly
		c.accesses = append(c.accesses, i)
	}
}

// listed records the operands of programs that tell about files without their content.
func (x *analysis) listed(c *command, dirs places) {
	for _, w := range c.words[1:] {
		if !w.known || !strings.HasPrefix(w.text, "-") {
			x.access(w, access{}, dirs)
		}
	}
}

// use records the operands of a program of the table. Where the program has a safeSpec that describes every option here,
// that alone says which words are files: two tables that disagree about an option's value would lose the file behind it.
func (x *analysis) use(c *command, u *usage, dirs places) {
	if spec := safeReads[c.base]; spec != nil && !(spec.words && spec.check != nil && spec.short == "" && spec.shortArg == "" && spec.long == "") {
		if operands, flags, why := spec.parse(c.words[1:]); why == "" && allLiteral(c.words[1:]) {
			c.described = trustedName(c)
			x.described(spec.files(operands, flags), flags, u, dirs)
			return
		}
	}
	if spec := safeReads[c.base]; spec != nil && (spec.short != "" || spec.shortArg != "" || spec.long != "") {
		u = u.as(spec)
	}
	words, flags := u.classify(c.words[1:])
	recursive := u.recursive == "*" || u.has(flags, u.recursive)
	inPlace := u.has(flags, u.inPlace)
	var operands []word
	for _, w := range words {
		switch w.role {
		case 'o':
			operands = append(operands, w.word)
		case 'r':
			x.access(w.word, access{}, dirs)
		case 'w':
			x.access(w.word, access{write: true}, dirs)
		}
	}
	skip := u.skip
	if skip > 0 && u.has(flags, u.noSkip) {
		skip = 0
	}
	operands = operands[min(skip, len(operands)):]
	proto := access{recursive: recursive}
	if u.hidden && !u.has(flags, "u. --hidden --no-ignore --unrestricted") {
		proto.skipHidden = true
	}
	if recursive && u.read && len(operands) == 0 && u.skip > 0 {
		operands = []word{lit(".")}
	}
	if u.last {
		x.into(c, words, operands, flags, recursive, dirs)
	}
	for i, w := range operands {
		a := proto
		switch {
		case u.last && i == len(operands)-1 && (i > 0 || c.base == "ln"):
			a.write, a.recursive = true, false
		case u.last && u.removeSrc:
			a.write, a.remove = true, true
		case u.write || inPlace:
			a.write, a.remove = true, u.remove
		}
		x.access(w, a, dirs)
		if suffix := backupSuffix(flags); inPlace && suffix != "" && w.known && !w.glob {
			x.access(lit(backupName(w.text, suffix)), access{write: true, denyOnly: true}, dirs)
		}
		if u.read && u.write || inPlace {
			a.write = false
			x.access(w, a, dirs)
		}
	}
}

// backupSuffix returns what sed -iSUFFIX calls the copies that it keeps.
func backupSuffix(flags []string) string {
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		if strings.HasPrefix(name, "--i") && strings.HasPrefix("--in-place", name) {
			return value
		}
		if i := strings.IndexByte(flag, 'i'); i > 0 && flag[0] == '-' && flag[1] != '-' && strings.Trim(flag[1:i], "nErsuz") == "" {
			return flag[i+1:]
		}
	}
	return ""
}

func backupName(name, suffix string) string {
	if !strings.Contains(suffix, "*") {
		return name + suffix
	}
	at := strings.LastIndexByte(name, '/') + 1
	suffix = strings.ReplaceAll(suffix, "*", name[at:])
	if strings.Contains(suffix, "/") {
		return suffix
	}
	return name[:at] + suffix
}

// into records what a copier makes inside a directory: cp a.txt dir writes dir/a.txt.
func (x *analysis) into(c *command, words []operandWord, operands []word, flags []string, recursive bool, dirs places) {
	var dest word
	sources, given := operands, false
	if c.base != "rsync" && c.base != "scp" {
		for _, w := range words {
			if w.role == 'w' {
				dest, given = w.word, true
			}
		}
		for _, flag := range flags { // an abbreviation
			name, value, _ := strings.Cut(flag, "=")
			if len(name) > 2 && name != "--target-directory" && strings.HasPrefix("--target-directory", name) {
				if dest, given = lit(value), true; value == "" && len(operands) > 0 {
					dest, sources = operands[0], operands[1:]
				}
				x.access(dest, access{write: true}, dirs)
			}
		}
	}
	if !given {
		if len(operands) < 2 {
			return
		}
		dest, sources = operands[len(operands)-1], operands[:len(operands)-1]
		if !dest.known || dest.glob || hasFlag(flags, "-T --no-target-directory") {
			return
		}
		if len(sources) == 1 && !sources[0].glob && sources[0].known && !x.isDirectory(dest, dirs) {
			if recursive {
				x.access(dest, access{write: true, recursive: true}, dirs)
			}
			return
		}
	}
	if !dest.known || dest.glob {
		return // nothing is known of where it writes, which is recorded
	}
	prefix := strings.TrimRight(dest.text, "/") + "/"
	for _, w := range sources {
		name := strings.TrimRight(w.text, "/")
		pattern := strings.TrimRight(w.pattern, "/")
		name, pattern = name[strings.LastIndexByte(name, '/')+1:], pattern[strings.LastIndexByte(pattern, '/')+1:]
		made := word{text: prefix + name, known: w.known, glob: w.glob, pattern: escapePattern(prefix) + pattern, assumed: dest.assumed}
		if w.known && (name == "" || name == "." || name == "..") {
			continue
		}
		x.access(made, access{write: true, recursive: recursive}, dirs)
	}
}

// isDirectory reports whether a word names a directory, by its spelling or on the filesystem.
func (x *analysis) isDirectory(w word, dirs places) bool {
	last := w.text[strings.LastIndexByte(w.text, '/')+1:]
	if last == "" || last == "." || last == ".." {
		return true
	}
	for _, from := range dirs.list {
		var a access
		if x.locate(&a, from.physical, w.text); a.isDir {
			return true
		}
	}
	return len(dirs.list) == 0
}

// as returns the usage with the options of the safeSpec that take a value: one table says what takes a value.
func (u *usage) as(spec *safeSpec) *usage {
	out := *u
	out.values = spec.shortArg
	var long []string
	for item := range strings.FieldsSeq(spec.long) {
		if name, ok := strings.CutSuffix(item, "="); ok {
			long = append(long, "--"+name)
		}
	}
	out.valueLong = strings.Join(long, " ")
	return &out
}

// described records the files of a command whose options are all described.
func (x *analysis) described(files []word, flags []string, u *usage, dirs places) {
	recursive := u.recursive == "*" || u.flagged(flags, u.recursive)
	proto := access{recursive: recursive}
	// A glob or a type that chooses files chooses hidden ones too.
	proto.skipHidden = u.hidden && !hasFlag(flags, "-u -. --hidden -g --glob --iglob -t --type")
	if recursive && len(files) == 0 && u.skip > 0 {
		files = []word{lit(".")}
	}
	for _, w := range files {
		x.access(w, proto, dirs)
	}
}

// flagged reports whether one of the options of a list like usage.recursive is among the flags that safeSpec.parse found.
func (u *usage) flagged(flags []string, list string) bool {
	for item := range strings.FieldsSeq(list) {
		if strings.HasPrefix(item, "-") {
			if hasFlag(flags, item) {
				return true
			}
			continue
		}
		for i := range item {
			if hasFlag(flags, "-"+item[i:i+1]) {
				return true
			}
		}
	}
	return false
}

func allLiteral(words []word) bool {
	for _, w := range words {
		if !w.known {
			return false
		}
	}
	return true
}

// classify tells operands from options. flags are the option words.
func (u *usage) classify(words []word) (out []operandWord, flags []string) {
	options := true
	for i := 0; i < len(words); i++ {
		w := words[i]
		text := w.text
		if !options || len(text) < 2 || text[0] != '-' || !w.known {
			if options && text == "--" {
				options = false
				continue
			}
			out = append(out, operandWord{w, 'o'})
			continue
		}
		if text == "--" {
			options = false
			continue
		}
		flags = append(flags, text)
		name, value, attached := strings.Cut(text, "=")
		if !strings.HasPrefix(text, "--") && len(text) > 2 && !listed(u.reads+" "+u.writes, name) {
			name, value, attached = u.cluster(text)
		}
		role := byte(0)
		switch {
		case listed(u.reads, name):
			role = 'r'
		case listed(u.writes, name):
			role = 'w'
		case listed(u.atReads, name):
			role = '@'
		case listed(u.valueLong, name), len(name) == 2 && strings.IndexByte(u.values, name[1]) >= 0:
			role = 'v'
		}
		if role == 0 {
			if attached && strings.ContainsAny(value, "/.") {
				out = append(out, operandWord{lit(value), 'r'}) // an option nobody here knows, with a path
			}
			continue
		}
		if !attached {
			if i++; i >= len(words) {
				break
			}
			w = words[i]
		} else {
			w = lit(value)
		}
		if role == '@' {
			// -d @file and -F name=@file send a file; anything else is data.
			if _, file, ok := strings.Cut(w.text, "@"); ok && file != "" {
				out = append(out, operandWord{lit(file), 'r'})
			}
			continue
		}
		if role != 'v' {
			out = append(out, operandWord{w, role})
		}
	}
	return out, flags
}

// cluster finds the letter in -abcVALUE that takes a value.
func (u *usage) cluster(text string) (name, value string, attached bool) {
	for j := 1; j < len(text); j++ {
		option := "-" + text[j:j+1]
		if listed(u.reads, option) || listed(u.writes, option) || listed(u.atReads, option) || strings.IndexByte(u.values, text[j]) >= 0 {
			return option, text[j+1:], j+1 < len(text)
		}
	}
	return text, "", false
}

// has reports whether one of the options is among the flags: list holds letters in its first field if that has no dash,
// and whole options.
func (u *usage) has(flags []string, list string) bool {
	for item := range strings.FieldsSeq(list) {
		for _, flag := range flags {
			if strings.HasPrefix(item, "-") || strings.HasPrefix(item, "/") {
				name, _, _ := strings.Cut(flag, "=")
				if name == item || len(item) == 2 && !strings.HasPrefix(flag, "--") && strings.Contains(flag, item[1:]) ||
					len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(item, name) {
					return true
				}
				continue
			}
			if strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.ContainsAny(flag[1:], item) {
				return true
			}
		}
	}
	return false
}

func (x *analysis) ddOperands(c *command, dirs places) {
	for _, w := range c.words[1:] {
		name, value, ok := strings.Cut(w.text, "=")
		if !ok || name != "if" && name != "of" {
			continue
		}
		w.text, w.pattern = value, escapePattern(value)
		x.access(w, access{write: name == "of"}, dirs)
	}
}

// gitReaders and gitWriters are the subcommands whose operands are looked at as files, for deny and ask rules.
var (
	gitReaders = set("show diff log blame annotate cat-file grep archive whatchanged difftool")
	gitWriters = set("rm mv checkout restore clean apply stash")
)

// gitOperands records the paths that git reads and writes, also behind a revision (HEAD:path).
func (x *analysis) gitOperands(c *command, dirs places) {
	at := subcommand("git", c.words)
	if at >= len(c.words) {
		return
	}
	name := c.words[at].text
	if !gitReaders[name] && !gitWriters[name] {
		return
	}
	for _, w := range c.words[at+1:] {
		if !w.known || strings.HasPrefix(w.text, "-") {
			continue
		}
		for _, path := range revisionPaths(w.text) {
			w.text, w.pattern = path, escapePattern(path)
			x.access(w, access{write: gitWriters[name], denyOnly: true}, dirs)
		}
	}
}

// revisionPaths returns what of a word of git may be a path: the word, or what stands behind each of its colons
// (HEAD:path, :0:path, HEAD@{10:00}:path).
func revisionPaths(text string) []string {
	var out []string
	for i := 0; i < len(text) && len(out) < maxRevisionPaths; i++ {
		if text[i] == ':' && i+1 < len(text) {
			out = append(out, text[i+1:])
		}
	}
	if out == nil && text != "" {
		out = []string{text}
	}
	return out
}

const maxRevisionPaths = 8

// findOperands records where find starts, and what -delete and -fprint write.
func (x *analysis) findOperands(c *command, dirs places) {
	deletes := false
	for _, w := range c.words[1:] {
		deletes = deletes || w.text == "-delete"
	}
	starts := 0
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch w.text {
		case "-H", "-L", "-P":
			continue
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(c.words) {
				x.access(c.words[i+1], access{write: true}, dirs)
			}
		}
		if w.known && (strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!") {
			starts += 1 << 16 // no more starting points
			continue
		}
		if starts >= 1<<16 {
			continue
		}
		starts++
		x.access(w, access{write: deletes, remove: deletes, recursive: deletes}, dirs)
	}
	if starts&0xffff == 0 {
		x.access(lit("."), access{write: deletes, remove: deletes, recursive: deletes}, dirs)
	}
}
