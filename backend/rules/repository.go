package rules

import (
	"errors"
	"io/fs"

	"github.com/pelletier/go-toml/v2"

	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// RepositoryFile is where a repository may tighten the rules it is judged by, relative to the project.
const RepositoryFile = ".countersign/rules.toml"

// maxFile is the largest file of rules that is read, in bytes.
const maxFile = 256 << 10

// repositoryFile is what a repository says about itself.
type repositoryFile struct {
	path    string
	digest  string // of its content; "" where there is none that can be read
	content string
	stamp   string // changes whenever anything here does
	set     policy.RuleSet
	ignored []Ignored
}

// readRepository reads the rules file of a project. Its allow rules are marked, and count only where the owner trusts it.
func readRepository(fsys pathid.FS, p pathid.Platform, project string) repositoryFile {
	if project == "" {
		return repositoryFile{}
	}
	out := repositoryFile{path: pathid.Join(p, pathid.Join(p, project, ".countersign"), "rules.toml")}
	unreadable := func(err error) repositoryFile {
		out.stamp = "unreadable: " + err.Error()
		out.set = policy.RuleSet{Unreadable: []policy.UnreadableSource{{Source: policy.SourceRepository, Where: out.path, Err: err.Error()}}}
		return out
	}
	data, err := fsys.ReadFile(out.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	if err != nil {
		return unreadable(err)
	}
	var file lists
	if err := toml.Unmarshal(data, &file); err != nil {
		return unreadable(err)
	}
	out.digest = capability.DigestBytes(data)
	out.stamp, out.content = out.digest, string(data)
	out.set = FromFile(policy.SourceRepository, out.path, file.Deny, file.Ask, file.Allow)
	var keys map[string]any
	if err := toml.Unmarshal(data, &keys); err != nil {
		return unreadable(err)
	}
	for name := range keys {
		if name != "deny" && name != "ask" && name != "allow" {
			out.ignored = append(out.ignored, Ignored{Source: policy.SourceRepository, Where: out.path, Text: name, Why: WhyNoSuchKey})
		}
	}
	return out
}

// Repository is a project's own rules file as it is now.
type Repository struct {
	Path    string
	Digest  string // which Trust takes; "" where there is no file, or none that can be read
	Content string
	Problem string // why it cannot be read
}

// Repository reads the rules file of a project for a person to look at.
func (b *Book) Repository(project string) Repository {
	file := readRepository(b.o.FS, b.o.Platform, project)
	out := Repository{Path: file.path, Digest: file.digest, Content: file.content}
	if len(file.set.Unreadable) > 0 {
		out.Problem = file.set.Unreadable[0].Err
	}
	return out
}
