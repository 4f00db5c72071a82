package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// place is one existing file or directory.
type place struct {
	Path string
	Dir  bool
}

// survey is everything the planner knows: the capability's roots as they stand on disk, and the broker's own paths. The
// planner asks nothing itself.
type survey struct {
	Policy                capability.SandboxPolicy
	Read, Write, Metadata []place
	Guarded               []string     // the product's own programs and files: no write root lies in one
	Denied                []place      // existing denied roots, secrets of the system and the broker's own directories
	Guards                []guard      // protected paths
	Git                   repositories // as the command finds them, to compare with afterwards
	Links                 [][2]string  // top-level links of the system: {"/bin", "usr/bin"}
	Cwd                   string
	Home                  string // HOME inside; the same path outside
	Tmp                   string // bound to /tmp; empty means a fresh tmpfs, as for Home
	EmptyDir, DeniedDir   string // stand-ins of the broker: an empty directory, and one that nobody may open
	EmptyFile             string // and an empty file
	Streams               [3]uint64
	Terminal              bool // a terminal is handed over
	Root                  bool // the broker runs as root
	ABI                   int
	Homes                 []string // home directories of the core: never a root, nor inside one that was not named
}

// plan is what bubblewrap and countersign-init are told.
type plan struct {
	Args    []string // bubblewrap's, without the program to execute
	Rules   []rule
	Mounted string // a directory that must be mounted read-only, for the attempt to write there
}

// tooWide are directories that are never a root, because they hold other things than files of one project: programs and
// sockets of the host, devices, everything.
var tooWideToRead = []string{"/", "/proc", "/sys", "/dev", "/run", "/var", "/var/run", "/home", "/Users"}

// tooWideToWrite are never a write root, and nothing below the marked ones is.
var tooWideToWrite = []string{"/tmp", "/var/tmp", "/opt", "/srv", "/mnt", "/media"}
var neverWritten = []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/proc", "/sys", "/dev", "/run"}
var neverRead = []string{"/proc", "/sys", "/dev", "/run", "/var/run"}

func within(root, name string) bool { return pathid.Contains(pathid.Linux, root, name) }

func inAny(roots []string, name string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(root, name) })
}

// checkRoots refuses roots that would open what no capability may open.
func checkRoots(s survey) error {
	wide := func(p place) error { return fmt.Errorf("%w: %s", ErrRootTooWide, p.Path) }
	for _, p := range slices.Concat(s.Read, s.Write, s.Metadata) {
		holdsHome := slices.ContainsFunc(s.Homes, func(home string) bool { return within(p.Path, home) })
		if slices.Contains(tooWideToRead, p.Path) || inAny(neverRead, p.Path) || holdsHome {
			return wide(p)
		}
	}
	for _, p := range s.Metadata {
		// Landlock's rights reach down through mounts: below a private directory, which may be read, nothing can be kept
		// from being read.
		if inAny([]string{"/tmp", "/var/tmp"}, p.Path) {
			return wide(p)
		}
	}
	for _, p := range s.Write {
		if slices.Contains(tooWideToWrite, p.Path) || inAny(neverWritten, p.Path) || inAny(s.Guarded, p.Path) {
			return wide(p)
		}
	}
	return nil
}

// mount is one operation at a destination inside. At one destination the later rank wins.
type mount struct {
	dest string
	rank int
	args []string
}

// Ranks at one destination, later over earlier.
const (
	rankList = iota
	rankRead
	rankWrite
	rankAncestor
	rankGuard
	rankDenied
	rankPrivate
)

// planFor computes the boundary. It is pure.
func planFor(s survey) (plan, error) {
	if err := checkRoots(s); err != nil {
		return plan{}, err
	}
	denied := make([]string, 0, len(s.Denied))
	for _, p := range s.Denied {
		denied = append(denied, p.Path)
	}
	if inAny(denied, s.Cwd) {
		return plan{}, fmt.Errorf("%w: %s", ErrDenied, s.Cwd)
	}
	// A root inside a denied one is not opened again.
	open := func(list []place) []place {
		return slices.DeleteFunc(slices.Clone(list), func(p place) bool { return inAny(denied, p.Path) })
	}
	s.Read, s.Write, s.Metadata = open(s.Read), open(s.Write), open(s.Metadata)
	s.Guards = slices.DeleteFunc(slices.Clone(s.Guards), func(g guard) bool { return inAny(denied, g.Path) })

	args := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup",
		"--die-with-parent", "--as-pid-1", "--clearenv", "--cap-drop", "ALL", "--cap-add", "CAP_SETPCAP",
	}
	if !s.Terminal {
		args = append(args, "--new-session")
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run")
	if s.Root {
		// Root outside is root for sysctl inside, capabilities or not: core_pattern would be a way out. bubblewrap covers
		// this directory only where the directory itself is writable, which it never is.
		args = append(args, "--ro-bind", "/proc/sys", "/proc/sys")
	}
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if s.Tmp != "" {
			args = append(args, "--bind", s.Tmp, dir)
		} else {
			args = append(args, "--tmpfs", dir)
		}
	}
	for _, link := range s.Links {
		args = append(args, "--symlink", link[1], link[0])
	}
	mounts := mountsOf(s)
	for _, m := range mounts {
		args = append(args, m.args...)
	}
	for _, m := range mounts {
		if m.rank == rankDenied && m.args[0] == "--tmpfs" {
			args = append(args, "--remount-ro", m.dest)
		}
	}
	args = append(args, "--remount-ro", "/", "--chdir", "/")

	p := plan{Args: args, Rules: rulesOf(s)}
	for _, m := range mounts {
		isDir := slices.ContainsFunc(s.Read, func(p place) bool { return p.Path == m.dest && p.Dir })
		if m.rank == rankRead && isDir {
			p.Mounted = m.dest
			break
		}
	}
	if p.Mounted == "" {
		return plan{}, fmt.Errorf("%w: nothing is mounted read-only", ErrSpec)
	}
	return p, nil
}

// mountsOf lists what is bound, parents before children. A root inside another that already gives it is left out, so
// that the usual command costs few mounts.
func mountsOf(s survey) []mount {
	var list []mount
	bind := func(rank int, op, source, dest string) {
		list = append(list, mount{dest, rank, []string{op, source, dest}})
	}
	var writable, readable []string
	for _, p := range s.Write {
		writable = append(writable, p.Path)
	}
	for _, p := range s.Read {
		readable = append(readable, p.Path)
	}
	for _, p := range s.Write {
		bind(rankWrite, "--bind", p.Path, p.Path)
	}
	for _, p := range s.Read {
		if !inAny(writable, p.Path) {
			bind(rankRead, "--ro-bind", p.Path, p.Path)
		}
	}
	for _, p := range s.Metadata {
		if !inAny(writable, p.Path) && !inAny(readable, p.Path) {
			bind(rankList, "--ro-bind", p.Path, p.Path)
		}
	}
	for _, g := range s.Guards {
		try := ""
		if g.Passing {
			try = "-try"
		}
		for _, dir := range g.Ancestors {
			bind(rankAncestor, "--bind"+try, dir, dir)
		}
		switch {
		case g.Link != "":
			if g.Target != "" {
				bind(rankGuard, "--ro-bind", g.Target, g.Target)
			}
		case g.Missing && g.Dir:
			bind(rankGuard, "--ro-bind", s.EmptyDir, g.Path)
		case g.Missing: // readable: git stops at a configuration that it may not read
			bind(rankGuard, "--ro-bind", s.EmptyFile, g.Path)
		default:
			bind(rankGuard, "--ro-bind"+try, g.Path, g.Path)
		}
	}
	mounted := slices.Concat(writable, readable)
	for _, p := range s.Metadata {
		mounted = append(mounted, p.Path)
	}
	for _, p := range s.Denied {
		for _, root := range writable {
			for _, dir := range between(root, p.Path) {
				bind(rankAncestor, "--bind", dir, dir)
			}
		}
		switch {
		case !inAny(mounted, p.Path): // absent anyway
		case p.Dir && within(p.Path, s.Home): // the broker's own directory: it must hold a mount point; made read-only at the end
			list = append(list, mount{p.Path, rankDenied, []string{"--tmpfs", p.Path}})
		case p.Dir:
			bind(rankDenied, "--ro-bind", s.DeniedDir, p.Path)
		default:
			bind(rankDenied, "--ro-bind", "/dev/null", p.Path)
		}
	}
	if s.Tmp != "" {
		bind(rankPrivate, "--bind", s.Home, s.Home)
	} else {
		list = append(list, mount{s.Home, rankPrivate, []string{"--tmpfs", s.Home}})
	}
	slices.SortStableFunc(list, func(a, b mount) int {
		if c := slices.Compare(strings.Split(a.dest, "/"), strings.Split(b.dest, "/")); c != 0 {
			return c
		}
		return a.rank - b.rank
	})
	// Once per destination, the last rank.
	var out []mount
	for i, m := range list {
		if i+1 < len(list) && list[i+1].dest == m.dest {
			continue
		}
		// Below a denied directory nothing is mounted, except what is private to the session.
		if m.rank != rankPrivate && slices.ContainsFunc(out, func(o mount) bool {
			return o.rank == rankDenied && within(o.dest, m.dest)
		}) {
			continue
		}
		// And below a protected one nothing is made writable again.
		if (m.rank == rankWrite || m.rank == rankAncestor) && slices.ContainsFunc(out, func(o mount) bool {
			return o.rank == rankGuard && within(o.dest, m.dest)
		}) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// between returns the directories between root and name, both excluded, outermost first; none when name is not inside.
func between(root, name string) []string {
	var list []string
	if !within(root, name) {
		return nil
	}
	for dir := path.Dir(name); dir != root && within(root, dir); dir = path.Dir(dir) {
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}

// mountedCanary is the path whose creation the init attempts under the read-only mount.
func (p plan) mountedCanary() string { return path.Join(p.Mounted, ".countersign-attempt") }
