package desk

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"countersign/backend/approval"
	"countersign/backend/state"
	"countersign/backend/wire"
)

// The links of ours: linkPrefix, a kind, a slash and an id.
const (
	linkPrefix = "countersign://"
	maxLink    = 512 // bytes of a link
	maxLinkID  = 128 // bytes of the id in it
	fullID     = 36  // bytes of an id of ours; a shorter one is the end of one
	maxLogged  = 120 // bytes of a malformed link that are logged
)

// ParseLink reads a link; what is none is wire.LinkUnknown. It comes from a browser or a mail, so it is a few words of a small alphabet or it is nothing:
// no case is folded, nothing is decoded, and nothing may follow.
func ParseLink(url string) wire.Link {
	unknown := wire.Link{Kind: wire.LinkUnknown}
	if url == "" {
		return wire.Link{Kind: wire.LinkNone}
	}
	rest, ours := strings.CutPrefix(url, linkPrefix)
	kind, id, named := strings.Cut(rest, "/")
	if len(url) > maxLink || !ours || !named || id == "" || len(id) > maxLinkID {
		return unknown
	}
	switch kind {
	case wire.LinkApproval, wire.LinkSession, wire.LinkProject, wire.LinkReceipt:
	default:
		return unknown
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return unknown
		}
	}
	return wire.Link{Kind: kind, ID: id}
}

// linkPause is how long after one link no other one moves the screens: a person follows no two in that time, and what
// left its agent can send as many as it likes.
const linkPause = 200 * time.Millisecond

// linkGate lets one link pass in linkPause.
type linkGate struct {
	mu   sync.Mutex // guards last
	last time.Time
}

func (g *linkGate) admit(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if since := now.Sub(g.last); since >= 0 && since < linkPause { // a clock that was set back closes nothing
		return false
	}
	g.last = now
	return true
}

// openLink tells every screen what a link names. It only navigates: it answers, changes and grants nothing, so anybody
// but an agent may send one. One that comes too soon after another is looked up and answered, and moves no screen.
func (d *Desk) openLink(_ context.Context, _ *exchange, in wire.OpenLink) (wire.LinkOpened, error) {
	link, err := d.lookUp(ParseLink(in.URL))
	if err != nil {
		return wire.LinkOpened{}, err
	}
	if link.Kind == wire.LinkUnknown {
		d.log.Warn("link to nothing", "link", loggable(in.URL), "bytes", len(in.URL))
	}
	if d.links.admit(d.clock.Now()) {
		d.frame(wire.FrameLinkOpened, link)
	}
	return wire.LinkOpened{Link: link, Window: d.window.isPresent()}, nil
}

// minIDEnd is the shortest end of an id that names something.
const minIDEnd = 4

// NamedBy returns what an id, or the end of one, names: people copy the ends that lists print. Only one thing is a
// finding; of is a thing's id.
func NamedBy[T any](list []T, id string, of func(T) string) []T {
	var found []T
	for _, one := range list {
		if id != "" && of(one) == id || len(id) >= minIDEnd && strings.HasSuffix(of(one), id) {
			found = append(found, one)
		}
	}
	return found
}

// whole completes the end of an id where it names one thing of those that lists show: approvals that wait, sessions,
// receipts.
func (d *Desk) whole(link wire.Link) (wire.Link, error) {
	var ids []string
	switch link.Kind {
	case wire.LinkApproval:
		open, err := d.calls.Pending()
		if err != nil {
			return link, err
		}
		for _, q := range open {
			ids = append(ids, q.ID)
		}
	case wire.LinkSession:
		for _, s := range d.sessionsNewestFirst() {
			ids = append(ids, s.ID)
		}
	case wire.LinkReceipt:
		list, err := d.receipts.List(state.Filter{Limit: maxListed})
		if err != nil {
			return link, err
		}
		for _, e := range list {
			ids = append(ids, e.Record.ID)
		}
	}
	if found := NamedBy(ids, link.ID, func(id string) string { return id }); len(found) == 1 {
		link.ID = found[0]
	}
	return link, nil
}

// lookUp makes a link to what is not here one to nothing. Projects have no record of their own: a screen shows what it
// has of one.
func (d *Desk) lookUp(link wire.Link) (wire.Link, error) {
	if len(link.ID) < fullID {
		var err error
		if link, err = d.whole(link); err != nil {
			return link, err
		}
	}
	var err error
	switch link.Kind {
	case wire.LinkApproval:
		_, err = d.calls.Question(link.ID)
	case wire.LinkSession:
		if _, ok := d.session(link.ID); !ok {
			err = unknownSession(link.ID)
		}
	case wire.LinkReceipt:
		_, err = d.receipts.Get(link.ID)
	}
	var refusal *wire.Error
	if errors.Is(err, approval.ErrUnknownQuestion) || errors.Is(err, state.ErrNoReceipt) || errors.As(err, &refusal) {
		return wire.Link{Kind: wire.LinkUnknown}, nil
	}
	return link, err
}

// loggable is the beginning of a text that anybody may have written, without what could act on whoever reads the log.
func loggable(text string) string {
	if len(text) > maxLogged {
		text = text[:maxLogged]
	}
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
