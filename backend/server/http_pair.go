package server

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
)

const (
	// tokenName is the query parameter of a link.
	tokenName = "token"
	// secretSize is how many random bytes a link, a cookie or a key holds.
	secretSize = 32
	// keyProtocol begins the WebSocket subprotocol that carries a page's key.
	keyProtocol = "countersign.key."
)

// openTheLink is what to do without a cookie.
const openTheLink = "Look at the terminal in which “countersign serve --http” runs, and open the newest link there. " +
	"A link connects one browser, once; after it was used, the next one is shown."

// pairings remembers which browsers came with a link. Nothing of it is written anywhere: it ends with the core.
type pairings struct {
	name string // of the cookie

	mu     sync.Mutex // guards the rest
	token  string     // of the newest link, "" once it was used
	paired []pairing  // oldest first
}

// pairing is what one browser holds. A browser sends the cookie to every port of the host: whatever else listens on
// this machine, and is visited by this run's name, gets it. So the cookie opens the pages only. The wire wants the key
// too, which the page keeps where no other port's page can read it, and sends nowhere else.
type pairing struct{ cookie, key string }

func newPairings() *pairings { return &pairings{name: "countersign-" + newSecret()[:8]} }

func newSecret() string {
	b := make([]byte, secretSize)
	_, _ = rand.Read(b) // it never fails: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// link makes the token of a new link, in place of the one before.
func (p *pairings) link() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = newSecret()
	return p.token
}

// redeem trades the token of the newest link for a cookie and a key, once.
func (p *pairings) redeem(token string) (one pairing, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 {
		return pairing{}, false
	}
	p.token = ""
	one = pairing{cookie: newSecret(), key: newSecret()}
	if p.paired = append(p.paired, one); len(p.paired) > MaxBrowsers {
		p.paired = p.paired[1:]
	}
	return one, true
}

// holds reports whether a cookie is one of ours.
func (p *pairings) holds(cookie string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := 0
	for _, one := range p.paired {
		found |= subtle.ConstantTimeCompare([]byte(one.cookie), []byte(cookie))
	}
	return found == 1
}

// opens reports whether a cookie and a key belong to the same browser.
func (p *pairings) opens(cookie, key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := 0
	for _, one := range p.paired {
		found |= subtle.ConstantTimeCompare([]byte(one.cookie), []byte(cookie)) & subtle.ConstantTimeCompare([]byte(one.key), []byte(key))
	}
	return found == 1
}

// keyOf returns the key that comes with a request for the wire, and the subprotocol that carries it.
func keyOf(r *http.Request) (key, protocol string) {
	for _, list := range r.Header.Values("Sec-WebSocket-Protocol") {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); strings.HasPrefix(one, keyProtocol) {
				return strings.TrimPrefix(one, keyProtocol), one
			}
		}
	}
	return "", ""
}

// cookieOf returns the request's cookie for which fits holds, "" without one. Another port of the host can leave
// cookies of the same name, for a longer path or the whole domain: those must not hide ours.
func (p *pairings) cookieOf(r *http.Request, fits func(cookie string) bool) string {
	for _, c := range r.CookiesNamed(p.name) {
		if fits(c.Value) {
			return c.Value
		}
	}
	return ""
}

// paired reports whether the request comes from a browser that came with a link.
func (h *HTTP) paired(r *http.Request) bool { return h.pairings.cookieOf(r, h.pairings.holds) != "" }

// pair lets a browser in that comes with a link.
func (h *HTTP) pair(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose")+r.Header.Get("Purpose"), "prefetch") {
		// Whatever looks at links before a person opens them must not use them up.
		notice(w, http.StatusForbidden, "Not yet", "Open the link itself.")
		return
	}
	one, ok := h.pairings.redeem(r.URL.Query().Get(tokenName))
	if !ok && h.paired(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther) // an old link in a browser that is connected
		return
	}
	if !ok {
		notice(w, http.StatusForbidden, "This link was used, or is not the newest", openTheLink)
		return
	}
	h.log.Info("a browser came with a link", "surface", h.surface)
	if h.onUsed != nil {
		h.onUsed()
	}
	http.SetCookie(w, &http.Cookie{Name: h.pairings.name, Value: one.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	// The fragment is never sent to anybody; the page takes the key from it.
	target := "/#key=" + one.key
	if sameOrigin(r) {
		http.Redirect(w, r, target, http.StatusSeeOther)
		return
	}
	// The link was followed from another page. A redirect would still count as that page's request and come without the
	// cookie; what our own page leads to comes with it.
	page(w, http.StatusOK, "Connected", `<meta http-equiv="refresh" content="0;url=`+target+`">`, `This browser is connected. <a href="`+target+`">Continue</a>`)
}
