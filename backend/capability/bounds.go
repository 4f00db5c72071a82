package capability

import (
	"cmp"
	"time"
)

// MaxEntries bounds each list of a request.
const MaxEntries = 1024

// MaxName is the longest environment or host name, in bytes.
const MaxName = 256

// bounds is the normal form that requests and ceilings are compared and intersected in: every set minimal and sorted,
// write roots within read roots, read roots within listable roots, no write root under read-only.
type bounds struct {
	policy SandboxPolicy
	shell  bool
	read   rootSet
	write  rootSet
	list   rootSet // may be listed and stat'ed
	denied rootSet
	reach  reach
	names  nameSet
	limits Limits
}

func policyRank(p SandboxPolicy) int {
	switch p {
	case ReadOnly:
		return 1
	case WorkspaceWrite:
		return 2
	case DangerFullAccess:
		return 3
	}
	return 0
}

func networkRank(n Network) int {
	switch n {
	case NetworkOff:
		return 1
	case NetworkProxied:
		return 2
	case NetworkOpen:
		return 3
	}
	return 0
}

// newBounds validates the request and brings it into normal form.
func newBounds(req Request) (bounds, error) {
	if _, err := ParseSandboxPolicy(string(req.Policy)); err != nil {
		return bounds{}, err
	}
	for _, list := range []struct {
		what  string
		roots []string
	}{
		{"read_roots", req.ReadRoots}, {"write_roots", req.WriteRoots},
		{"metadata_roots", req.MetadataRoots}, {"denied_roots", req.DeniedRoots},
	} {
		if err := checkRoots(list.what, list.roots); err != nil {
			return bounds{}, err
		}
	}
	if err := checkNames(req.Environment); err != nil {
		return bounds{}, err
	}
	if req.Limits.WallClock < 0 {
		return bounds{}, invalid("limits", req.Limits.WallClock.String(), "negative")
	}
	where, err := newReach(req.Network, req.Targets)
	if err != nil {
		return bounds{}, err
	}
	b := bounds{
		policy: req.Policy,
		shell:  req.Shell,
		write:  rootSet{roots: minimal(req.WriteRoots)},
		denied: rootSet{roots: minimal(req.DeniedRoots)},
		reach:  where,
		names:  newNameSet(req.Environment),
		limits: req.Limits,
	}
	b.read = b.write.join(rootSet{roots: req.ReadRoots})
	b.list = b.read.join(rootSet{roots: req.MetadataRoots})
	if b.policy == ReadOnly {
		b.write = rootSet{}
	}
	return b, nil
}

func (b bounds) meet(c bounds) bounds {
	out := bounds{
		policy: b.policy,
		shell:  b.shell && c.shell,
		read:   b.read.meet(c.read),
		write:  b.write.meet(c.write),
		list:   b.list.meet(c.list),
		denied: b.denied.join(c.denied),
		reach:  b.reach.meet(c.reach),
		names:  b.names.meet(c.names),
		limits: b.limits.meet(c.limits),
	}
	if policyRank(c.policy) < policyRank(b.policy) {
		out.policy = c.policy
	}
	return out
}

func (l Limits) meet(m Limits) Limits {
	return Limits{
		WallClock:   smaller[time.Duration](l.WallClock, m.WallClock),
		CPUSeconds:  smaller(l.CPUSeconds, m.CPUSeconds),
		MemoryBytes: smaller(l.MemoryBytes, m.MemoryBytes),
		FileBytes:   smaller(l.FileBytes, m.FileBytes),
		Processes:   smaller(l.Processes, m.Processes),
		OpenFiles:   smaller(l.OpenFiles, m.OpenFiles),
		OutputBytes: smaller(l.OutputBytes, m.OutputBytes),
	}
}

// smaller returns the smaller value that is set; zero is "not set".
func smaller[T cmp.Ordered](a, b T) T {
	var unset T
	switch {
	case a == unset:
		return b
	case b == unset:
		return a
	}
	return min(a, b)
}

// wider returns the first thing in which req goes beyond b, or nil.
func (b bounds) wider(req bounds) error {
	if policyRank(req.policy) > policyRank(b.policy) {
		return &WiderError{What: "policy", Value: string(req.policy)}
	}
	if req.shell && !b.shell {
		return &WiderError{What: "shell", Value: "true"}
	}
	for _, set := range []struct {
		what        string
		have, wants rootSet
	}{
		{"write_roots", b.write, req.write}, {"read_roots", b.read, req.read}, {"metadata_roots", b.list, req.list},
	} {
		if root, ok := set.have.firstOutside(set.wants); ok {
			return &WiderError{What: set.what, Value: root}
		}
		for _, root := range set.wants.roots {
			if b.denied.covers(root) {
				return &WiderError{What: set.what, Value: root}
			}
		}
	}
	if err := b.widerReach(req.reach); err != nil {
		return err
	}
	if !b.names.all {
		for _, name := range req.names.names {
			if !b.names.has(name) {
				return &WiderError{What: "environment", Value: name}
			}
		}
	}
	return b.limits.wider(req.limits)
}

func (b bounds) widerReach(wants reach) error {
	if b.reach.open {
		return nil
	}
	if networkRank(wants.network()) > networkRank(b.reach.network()) {
		return &WiderError{What: "network", Value: string(wants.network())}
	}
	for _, t := range wants.targets {
		covered := false
		for _, have := range b.reach.targets {
			covered = covered || have.covers(t)
		}
		if !covered {
			return &WiderError{What: "targets", Value: t.String()}
		}
	}
	return nil
}
