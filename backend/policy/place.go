package policy

import "countersign/backend/pathid"

// place is a working directory a command may run in: what the shell calls it, and where it is after links.
type place struct{ logical, physical string }

// places are the working directories that are possible at one point of a text.
type places struct {
	list    []place
	unknown bool // some other directory is possible too
}

// maxPlaces bounds the directories that are followed; more become unknown.
const maxPlaces = 8

func (p places) union(o places) places {
	out := places{list: append([]place(nil), p.list...), unknown: p.unknown || o.unknown}
	for _, candidate := range o.list {
		seen := false
		for _, have := range out.list {
			seen = seen || have == candidate
		}
		if !seen {
			out.list = append(out.list, candidate)
		}
	}
	if len(out.list) > maxPlaces {
		out.list, out.unknown = out.list[:maxPlaces], true
	}
	return out
}

// lost is a place nobody knows; the places known so far stay as guesses for deny rules.
func (p places) lost() places { return places{list: p.list, unknown: true} }

// only reports whether the one possible directory is dir.
func (p places) only(dir string) bool {
	return !p.unknown && len(p.list) == 1 && p.list[0].physical == dir
}

// flow says where a statement leaves the shell, by how it ended.
type flow struct{ ok, fail places }

func stay(p places) flow { return flow{ok: p, fail: p} }

func (f flow) after() places { return f.ok.union(f.fail) }

// enter resolves a directory that cd is given.
func (x *analysis) enter(from place, name string) (place, error) {
	logical, err := pathid.Abs(x.platform, from.logical, name)
	if err != nil {
		return place{}, err
	}
	resolved, err := pathid.Resolve(x.platform, x.view, logical)
	if err != nil {
		return place{}, err
	}
	return place{logical: logical, physical: resolved.Path}, nil
}

// changeDirectory follows cd and pushd. It notes on the command whether every target lies inside the roots.
func (x *analysis) changeDirectory(c *command, dirs places) flow {
	lost := flow{ok: dirs.lost(), fail: dirs}
	target, ok := cdTarget(c)
	switch {
	case !ok:
		c.chdir = "directory is not known"
		return lost
	case target == "":
		target = x.home()
	}
	if x.moves++; x.moves > maxMoves {
		c.chdir = "too many changes of directory"
		return lost
	}
	if target == "" || dirs.unknown {
		c.chdir = "directory is not known"
		return lost
	}
	out := places{}
	c.chdir = cdInside
	for _, from := range dirs.list {
		to, err := x.enter(from, target)
		if err != nil {
			c.chdir = "directory cannot be resolved"
			return lost
		}
		if !x.insideRoots(to.physical) || !x.insideRoots(to.logical) {
			c.chdir = "directory lies outside the roots"
		}
		out = out.union(places{list: []place{to}})
	}
	return flow{ok: out, fail: dirs}
}

// cdInside marks a cd whose every target lies inside the roots.
const cdInside = "inside"

// cdTarget returns the directory that cd is given: "" for home. ok is false when it is not known.
func cdTarget(c *command) (string, bool) {
	operands := 0
	target := ""
	options := true
	for _, w := range c.words[1:] {
		if !w.known || w.glob {
			return "", false
		}
		switch {
		case options && w.text == "--":
			options = false
		case options && w.text == "-L":
			// -P and -e leave link/.. where the link leads, which is not the place that is followed here.
		case c.base == "pushd" && (w.text == "-n" || len(w.text) > 0 && w.text[0] == '+'):
			return "", false // turns the stack
		case w.text == "-" || options && len(w.text) > 0 && w.text[0] == '-':
			return "", false
		default:
			options = false
			operands++
			target = w.text
		}
	}
	if operands == 1 && target == "" {
		return ".", true
	}
	return target, operands <= 1
}
