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
	// secretSize is how many random bytes a link or a cookie holds.
	secretSize = 32
)

// openTheLink is what to do without a cookie.
const openTheLink = "Look at the terminal in which “countersign serve --http” runs, and open the newest link there. " +
	"A link connects one browser, once; after it was used, the next one is shown."

// pairings remembers which browsers came with a link. Nothing of it is written anywhere: it ends with the core.
type pairings struct {
	name string // of the cookie: cookies of one host are shared by all its ports, so another desk's has another name

	mu      sync.Mutex // guards the rest
	token   string     // of the newest link, "" once it was used
	cookies []string   // oldest first
}

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

// redeem trades the token of the newest link for a cookie, once.
func (p *pairings) redeem(token string) (cookie string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 {
		return "", false
	}
	p.token = ""
	cookie = newSecret()
	if p.cookies = append(p.cookies, cookie); len(p.cookies) > MaxBrowsers {
		p.cookies = p.cookies[1:]
	}
	return cookie, true
}

// holds reports whether a cookie is one of ours.
func (p *pairings) holds(cookie string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := 0
	for _, c := range p.cookies {
		found |= subtle.ConstantTimeCompare([]byte(c), []byte(cookie))
	}
	return found == 1
}

// cookieOf returns the request's cookie, "" without one.
func (p *pairings) cookieOf(r *http.Request) string {
	c, err := r.Cookie(p.name)
	if err != nil {
		return ""
	}
	return c.Value
}

// paired reports whether the request comes from a browser that came with a link.
func (h *HTTP) paired(r *http.Request) bool { return h.pairings.holds(h.pairings.cookieOf(r)) }

// pair lets a browser in that comes with a link.
func (h *HTTP) pair(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose")+r.Header.Get("Purpose"), "prefetch"):
		// Whatever looks at links before a person opens them must not use them up.
		notice(w, http.StatusForbidden, "Not yet", "Open the link itself.")
		return
	case h.paired(r):
		http.Redirect(w, r, "/", http.StatusSeeOther) // an old link in a browser that is connected
		return
	}
	cookie, ok := h.pairings.redeem(r.URL.Query().Get(tokenName))
	if !ok {
		notice(w, http.StatusForbidden, "This link was used, or is not the newest", openTheLink)
		return
	}
	h.log.Info("a browser came with a link", "surface", h.surface)
	if h.onUsed != nil {
		h.onUsed()
	}
	http.SetCookie(w, &http.Cookie{Name: h.pairings.name, Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	if sameOrigin(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	// The link was followed from another page. A redirect would still count as that page's request and come without the
	// cookie; what our own page leads to comes with it.
	page(w, http.StatusOK, "Connected", `<meta http-equiv="refresh" content="0;url=/">`, `This browser is connected. <a href="/">Continue</a>`)
}
