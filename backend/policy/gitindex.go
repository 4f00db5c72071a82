package policy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"countersign/backend/pathid"
)

// Limits of what is read of an index.
const (
	maxGitIndex = 32 << 20 // bytes
	maxGitLinks = 256      // repositories inside the repository
)

// gitNested looks for repositories inside the repository that its index names: git status and git diff run git in each of
// them, which obeys the configuration that lies there. dir holds the index, common the configuration.
func (x *analysis) gitNested(dir, common, root string) string {
	text, err := x.view.ReadFile(pathid.Join(x.platform, dir, "index"), maxGitIndex)
	if notExist(err) {
		return ""
	}
	if err != nil {
		return "a repository whose index cannot be read"
	}
	hash := 20
	config, err := x.view.ReadFile(pathid.Join(x.platform, common, "config"), maxGitConfig)
	if err == nil && bytes.Contains(bytes.ToLower(config), []byte("sha256")) {
		hash = 32
	}
	links, err := gitLinks(text, hash)
	if err != nil || len(links) > maxGitLinks {
		return "a repository whose index cannot be read"
	}
	for _, link := range links {
		path := root
		for part := range strings.SplitSeq(link, "/") {
			path = pathid.Join(x.platform, path, part)
		}
		if _, err := x.view.Lstat(pathid.Join(x.platform, path, ".git")); !notExist(err) && !isNotDir(err) {
			return "a repository inside the repository"
		}
	}
	return ""
}

var errGitIndex = errors.New("not an index that is known")

// gitLinks returns the paths in an index that stand for a commit of another repository (gitformat-index(5)). A split or
// sparse index does not hold all paths and is an error.
func gitLinks(text []byte, hash int) ([]string, error) {
	if len(text) < 12+hash || string(text[:4]) != "DIRC" {
		return nil, errGitIndex
	}
	version, count := binary.BigEndian.Uint32(text[4:]), binary.BigEndian.Uint32(text[8:])
	if version < 2 || version > 4 {
		return nil, errGitIndex
	}
	body := text[12 : len(text)-hash]
	var links []string
	var previous []byte
	for range count {
		fixed := 40 + hash + 2
		if len(body) < fixed+2 {
			return nil, errGitIndex
		}
		mode := binary.BigEndian.Uint32(body[24:])
		if binary.BigEndian.Uint16(body[fixed-2:])&0x4000 != 0 {
			if version == 2 {
				return nil, errGitIndex
			}
			fixed += 2
		}
		rest := body[fixed:]
		strip := len(previous)
		if version == 4 {
			var size int
			if strip, size = gitOffset(rest); size == 0 || strip > len(previous) {
				return nil, errGitIndex
			}
			rest, fixed = rest[size:], fixed+size
		}
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return nil, errGitIndex
		}
		path := append(previous[:len(previous)-strip:len(previous)-strip], rest[:end]...)
		used := fixed + end + 1
		if version < 4 {
			used = (fixed + end + 8) &^ 7
		}
		if used > len(body) {
			return nil, errGitIndex
		}
		body, previous = body[used:], path
		if mode&0o170000 == 0o160000 {
			links = append(links, string(path))
		}
	}
	for len(body) >= 8 {
		size := binary.BigEndian.Uint32(body[4:])
		if body[0] < 'A' || body[0] > 'Z' || uint64(size)+8 > uint64(len(body)) {
			return nil, errGitIndex // an extension that must be understood: link, sdir
		}
		body = body[8+size:]
	}
	return links, nil
}

// gitOffset reads a number as git writes it in a pack: size is 0 when there is none.
func gitOffset(text []byte) (n, size int) {
	for i, c := range text {
		if i > 3 {
			return 0, 0
		}
		if i > 0 {
			n = (n + 1) << 7
		}
		n |= int(c & 127)
		if c&128 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}
