package capability

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// target is one network target: a host or address, or every host strictly below a domain, on one port or on all.
type target struct {
	host string // lower case, without a trailing dot; an address in its canonical form
	wild bool   // every host strictly below host
	port uint16 // 0: every port
}

// ParseTarget reads "host", "host:port", "*.domain", "*.domain:port", an IPv4 address or a bracketed IPv6 address, each
// with or without a port, and returns its canonical text. Names are ASCII: an international name is given in its xn--
// form. A wildcard that would cover a whole registry is refused.
func ParseTarget(text string) (string, error) {
	t, err := parseTarget(text)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

func parseTarget(text string) (target, error) {
	bad := func(why string) (target, error) { return target{}, invalid("targets", clip(text), why) }
	if len(text) > MaxName+8 {
		return bad("too long")
	}
	var t target
	port, hasPort := "", false
	if after, ok := strings.CutPrefix(text, "["); ok {
		inside, rest, closed := strings.Cut(after, "]")
		if !closed {
			return bad("bracket not closed")
		}
		a, err := netip.ParseAddr(inside)
		if err != nil || !a.Is6() || a.Zone() != "" {
			return bad("not an IPv6 address")
		}
		t.host = a.Unmap().String()
		if rest != "" {
			if rest[0] != ':' {
				return bad("text after the bracket")
			}
			port, hasPort = rest[1:], true
		}
	} else {
		var host string
		host, port, hasPort = strings.Cut(text, ":")
		if a, err := netip.ParseAddr(host); err == nil {
			t.host = a.String()
		} else if err := t.setName(host); err != "" {
			return bad(err)
		}
	}
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' || port[0] == '+' {
			return bad("not a port")
		}
		t.port = uint16(n)
	}
	return t, nil
}

func (t *target) setName(host string) (why string) {
	host, t.wild = strings.CutPrefix(host, "*.")
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > 253 {
		return "not a host name"
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if !isLabel(label) {
			return "not a host name"
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		// 127.1 and 0x7f.1 are addresses to some resolvers.
		return "not a host name"
	}
	if t.wild && tooBroad(labels) {
		return "wildcard covers a whole registry"
	}
	t.host = host
	return ""
}

func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		c := label[i]
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// tooBroad is a rule of thumb for "is a public suffix": one label, or a registry's second level under a country code.
func tooBroad(labels []string) bool {
	if len(labels) < 2 {
		return true
	}
	if len(labels) > 2 || len(labels[1]) != 2 {
		return false
	}
	switch labels[0] {
	case "ac", "co", "com", "edu", "gob", "gov", "go", "gv", "ltd", "mil", "ne", "net", "nom", "or", "org", "plc", "sch":
		return true
	}
	return false
}

// String returns the canonical text.
func (t target) String() string {
	host := t.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.wild {
		host = "*." + host
	}
	if t.port != 0 {
		host += ":" + strconv.Itoa(int(t.port))
	}
	return host
}

// covers reports whether every connection u allows is allowed by t.
func (t target) covers(u target) bool {
	if t.port != 0 && t.port != u.port {
		return false
	}
	if !t.wild {
		return !u.wild && t.host == u.host
	}
	if u.wild && t.host == u.host {
		return true
	}
	return strings.HasSuffix(u.host, "."+t.host)
}

// meet returns the target that allows what both allow.
func (t target) meet(u target) (target, bool) {
	narrow := t
	if h, g := (target{host: t.host, wild: t.wild}), (target{host: u.host, wild: u.wild}); !g.covers(h) {
		if !h.covers(g) {
			return target{}, false
		}
		narrow = u
	}
	switch {
	case t.port == 0:
		narrow.port = u.port
	case u.port == 0 || u.port == t.port:
		narrow.port = t.port
	default:
		return target{}, false
	}
	return narrow, true
}

// reach is where a process may connect. open covers everything; no targets means nowhere.
type reach struct {
	open    bool
	targets []target // minimal, sorted by text
}

func newReach(n Network, texts []string) (reach, error) {
	if len(texts) > MaxEntries {
		return reach{}, invalid("targets", "", "too many entries")
	}
	targets := make([]target, 0, len(texts))
	for _, text := range texts {
		t, err := parseTarget(text)
		if err != nil {
			return reach{}, err
		}
		targets = append(targets, t)
	}
	switch n {
	case NetworkOpen:
		return reach{open: true}, nil
	case NetworkProxied:
		return reach{targets: minimalTargets(targets)}, nil
	case NetworkOff:
		return reach{}, nil
	}
	return reach{}, invalid("network", string(n), "unknown word")
}

func minimalTargets(targets []target) []target {
	sorted := slices.Clone(targets)
	slices.SortFunc(sorted, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	sorted = slices.Compact(sorted)
	return slices.DeleteFunc(slices.Clone(sorted), func(t target) bool {
		return slices.ContainsFunc(sorted, func(other target) bool { return other != t && other.covers(t) })
	})
}

func (r reach) meet(s reach) reach {
	switch {
	case r.open:
		return s
	case s.open:
		return r
	}
	var both []target
	for _, t := range r.targets {
		for _, u := range s.targets {
			if v, ok := t.meet(u); ok {
				both = append(both, v)
			}
		}
	}
	return reach{targets: minimalTargets(both)}
}

func (r reach) network() Network {
	switch {
	case r.open:
		return NetworkOpen
	case len(r.targets) > 0:
		return NetworkProxied
	}
	return NetworkOff
}

func (r reach) texts() []string {
	out := make([]string, 0, len(r.targets))
	for _, t := range r.targets {
		out = append(out, t.String())
	}
	return out
}

func clip(text string) string {
	if len(text) > 64 {
		return text[:64]
	}
	return text
}
