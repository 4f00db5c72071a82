package sandbox

import (
	"slices"
	"time"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// maxRun is the wall-clock limit of a shell command that names none: long enough for any build, short enough that
// nothing forgotten runs for ever.
const maxRun = 24 * time.Hour

// systemRoots are the directories with the system's programs, libraries and configuration. What is secret in them is
// masked by the plan whatever a capability says.
var systemRoots = []string{
	"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", // the last five only where they are no links
	"/nix/store", "/gnu/store",
	"/Library/Developer", "/System", "/opt/homebrew",
}

// Request returns the base request of a shell command: the system's programs and libraries and the toolchains readable,
// the roots readable and, unless the policy is read-only, writable, no network. It is input: only
// capability.Intersect gives it force. roots and cwd are absolute and resolved.
func (b *Broker) Request(policy capability.SandboxPolicy, roots []string, cwd string) capability.Request {
	read := slices.Clone(roots)
	var within []string
	for _, root := range systemRoots {
		info, err := pathid.OS().Lstat(root)
		if err == nil && info.Mode.IsDir() {
			within = append(within, root)
		}
	}
	for _, dir := range Toolchains() {
		covered := slices.ContainsFunc(within, func(root string) bool { return pathid.Contains(pathid.Host(), root, dir) })
		resolved, err := pathid.Resolve(pathid.Host(), pathid.OS(), toolchainRoot(dir))
		if !covered && err == nil && resolved.Exists && !slices.Contains(within, resolved.Path) {
			within = append(within, resolved.Path)
		}
	}
	req := capability.Request{
		Class:       capability.ClassShell,
		Policy:      policy,
		Shell:       true,
		Cwd:         cwd,
		ReadRoots:   append(read, within...),
		Network:     capability.NetworkOff,
		Environment: slices.Clone(baseEnvironment),
		Limits:      capability.Limits{WallClock: maxRun},
	}
	if policy != capability.ReadOnly {
		req.WriteRoots = slices.Clone(roots)
	}
	return req
}
