package capability

// Ceiling is the most that may be given. The zero Ceiling allows nothing: Intersect refuses it.
type Ceiling struct {
	set bool
	b   bounds
}

// FullCeiling takes nothing away.
func FullCeiling() Ceiling {
	all := rootSet{all: true}
	return Ceiling{set: true, b: bounds{
		policy: DangerFullAccess,
		shell:  true,
		read:   all,
		write:  all,
		list:   all,
		reach:  reach{open: true},
		names:  nameSet{all: true},
	}}
}

// ReadOnlyCeiling takes away every write root and the network: plan mode's ceiling and that of boxed reads. A private
// temporary directory that the backend throws away afterwards is not a write root.
func ReadOnlyCeiling() Ceiling {
	c := FullCeiling()
	c.b.policy = ReadOnly
	c.b.write = rootSet{}
	c.b.reach = reach{}
	return c
}

// PolicyCeiling limits the sandbox policy and nothing else, except that read-only has no write roots.
func PolicyCeiling(p SandboxPolicy) (Ceiling, error) {
	if _, err := ParseSandboxPolicy(string(p)); err != nil {
		return Ceiling{}, err
	}
	c := FullCeiling()
	c.b.policy = p
	if p == ReadOnly {
		c.b.write = rootSet{}
	}
	return c, nil
}

// DenyCeiling takes away the given roots and nothing else.
func DenyCeiling(roots []string) (Ceiling, error) {
	if err := checkRoots("denied_roots", roots); err != nil {
		return Ceiling{}, err
	}
	c := FullCeiling()
	c.b.denied = rootSet{roots: minimal(roots)}
	return c, nil
}

// ModeCeiling is the ceiling of a permission mode: read-only in plan mode, otherwise nothing is taken away.
func ModeCeiling(plan bool) Ceiling {
	if plan {
		return ReadOnlyCeiling()
	}
	return FullCeiling()
}

// CeilingFrom makes a ceiling of everything the request names: managed, platform and preset ceilings are written as
// requests. Its class and working directory play no part. An empty list means nothing, not everything; an unset limit
// limits nothing.
func CeilingFrom(req Request) (Ceiling, error) {
	b, err := newBounds(req)
	if err != nil {
		return Ceiling{}, err
	}
	return Ceiling{set: true, b: b}, nil
}
