package desk

import (
	"context"
	"errors"
	"strings"
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
	maxLogged  = 120 // bytes of a malformed link that are logged
)

// parseLink reads a link. It comes from a browser or a mail, so it is a few words of a small alphabet or it is nothing:
// no case is folded, nothing is decoded, and nothing may follow.
func parseLink(url string) wire.Link {
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

// openLink tells every screen what a link names. It only navigates: it answers, changes and grants nothing, so anybody
// but an agent may send one.
func (d *Desk) openLink(_ context.Context, _ *exchange, in wire.OpenLink) (wire.LinkOpened, error) {
	link, err := d.lookUp(parseLink(in.URL))
	if err != nil {
		return wire.LinkOpened{}, err
	}
	if link.Kind == wire.LinkUnknown {
		d.log.Warn("link to nothing", "link", loggable(in.URL), "bytes", len(in.URL))
	}
	d.frame(wire.FrameLinkOpened, link)
	return wire.LinkOpened{Link: link, Window: d.window.isPresent()}, nil
}

// lookUp makes a link to what is not here one to nothing. Projects have no record of their own: a screen shows what it
// has of one.
func (d *Desk) lookUp(link wire.Link) (wire.Link, error) {
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
