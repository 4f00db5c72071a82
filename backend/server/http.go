package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"

	"countersign/backend/desk"
)

// HTTPOptions says what an HTTP server serves.
type HTTPOptions struct {
	Desk      Desk
	Pages     fs.FS          // the built pages, index.html at the top
	Listeners []net.Listener // from ListenLoopback; the server takes them over
	// Owner makes every browser that comes with a link the owner's own screen. Without it a browser may look only.
	Owner bool
	// OnUsed is called after a link was used, so that the next one can be shown; nil: nobody is told. It must not wait.
	OnUsed func()
	Log    *slog.Logger // nil: nothing is logged. Links, cookies, arguments and results never are
}

// HTTP serves the desk's pages and its wire to browsers of this machine, and of machines that forward a port to it.
//
// Lock order: HTTP.mu and pairings.mu are never held together.
type HTTP struct {
	desk      Desk
	pages     fs.FS
	listeners []net.Listener
	name      string // the only host name that is answered to
	surface   string
	onUsed    func()
	log       *slog.Logger
	pairings  *pairings
	server    *http.Server

	stopping context.Context // ends with desk.ErrStopping
	stop     context.CancelCauseFunc
	served   sync.WaitGroup // every tab, and Serve

	mu      sync.Mutex // guards the rest
	started bool
	plain   map[net.Conn]struct{} // connections that are no WebSocket
	tabs    map[*webTransport]struct{}
}

// ErrNotLoopback means that an address is none where browsers look for names below localhost, or could be reached from
// other machines.
var ErrNotLoopback = errors.New("the address is not localhost, 127.0.0.1 or [::1]")

// The addresses of localhost. Browsers try both, many of them that of version 6 first: whoever had only one of them
// would get the links that are meant for the other.
const (
	loopback4 = "127.0.0.1"
	loopback6 = "::1"
)

// portTries is how often another free port is looked for when the system's choice is free in one family only.
const portTries = 20

// ListenLoopback listens on HOST:PORT, where HOST is localhost, 127.0.0.1 or [::1]; whichever it is, on both addresses,
// or the one there is on a machine without the other family. Any other is refused with ErrNotLoopback: from another
// machine the pages are reached by forwarding a port, e.g. with ssh -L. Port 0 is any free one.
func ListenLoopback(address string) ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: it must be HOST:PORT: %w", address, err)
	}
	if host != "localhost" && host != loopback4 && host != loopback6 { // never what a name server says
		return nil, fmt.Errorf("listen on %q: %w", address, ErrNotLoopback)
	}
	for try := 1; ; try++ {
		listeners, err := listenBoth(port)
		if err == nil || port != "0" || try == portTries {
			return listeners, err
		}
	}
}

func listenBoth(port string) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, host := range []string{loopback4, loopback6} {
		if len(listeners) > 0 { // what the system chose, if it chose
			_, port, _ = net.SplitHostPort(listeners[0].Addr().String())
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		switch {
		case err == nil:
			listeners = append(listeners, l)
		case host == loopback6 && len(listeners) > 0 && noSuchFamily(err):
		default:
			closeListeners(listeners)
			return nil, err
		}
	}
	return listeners, nil
}

func closeListeners(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// NewHTTP returns a server for browsers. It accepts nothing before Serve.
func NewHTTP(o HTTPOptions) (*HTTP, error) {
	if o.Desk == nil || o.Pages == nil || len(o.Listeners) == 0 {
		return nil, errors.New("new http server: desk, pages and listeners must be given")
	}
	for _, l := range o.Listeners {
		if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
			return nil, fmt.Errorf("new http server on %v: %w", l.Addr(), ErrNotLoopback)
		}
	}
	h := &HTTP{
		desk: o.Desk, pages: o.Pages, listeners: o.Listeners, name: newName(), surface: desk.SurfaceBrowser, onUsed: o.OnUsed, log: o.Log,
		pairings: newPairings(), plain: map[net.Conn]struct{}{}, tabs: map[*webTransport]struct{}{},
	}
	if o.Owner {
		h.surface = desk.SurfaceOwner
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.stopping, h.stop = context.WithCancelCause(context.Background())
	h.server = &http.Server{
		Handler: h, ReadHeaderTimeout: HeaderTimeout, ReadTimeout: RequestTimeout, WriteTimeout: RequestTimeout, IdleTimeout: IdleTimeout,
		MaxHeaderBytes: MaxHeader, ConnState: h.count, ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	return h, nil
}

// newName returns a host name that no page of this machine can have had before. What a browser keeps for a host and
// port (service workers, cached scripts, storage, cookies) outlives whatever served it: a preview on the port that
// browsers are served on later would still be there, between the link and our pages. Browsers look for every name below
// localhost on this machine (RFC 6761) and hold it for as safe as HTTPS.
func newName() string { return strings.ToLower(rand.Text()) + ".localhost" }

// Link returns a new link for one browser. It can be used once; the one before it can no longer be used.
func (h *HTTP) Link() string {
	_, port, _ := net.SplitHostPort(h.listeners[0].Addr().String())
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(h.name, port), Path: "/", RawQuery: url.Values{tokenName: {h.pairings.link()}}.Encode()}
	return u.String()
}

// Serve serves browsers until Shutdown, then returns nil; tabs may still be ending.
func (h *HTTP) Serve() error {
	h.mu.Lock()
	if h.started {
		h.mu.Unlock()
		return errors.New("serve http: called twice")
	}
	h.started = true
	if h.stopping.Err() == nil {
		h.served.Add(1)
		defer h.served.Done()
	}
	h.mu.Unlock()
	ended := make(chan error, len(h.listeners))
	for _, l := range h.listeners {
		go func() { ended <- h.server.Serve(l) }()
	}
	err := <-ended
	if h.stopping.Err() == nil { // one of two addresses would be anybody's
		_ = h.server.Close()
	}
	for range len(h.listeners) - 1 {
		err = errors.Join(err, <-ended)
	}
	if h.stopping.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve http: %w", err)
}

// Shutdown does for browsers what Server.Shutdown does for the socket.
func (h *HTTP) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.stop(desk.ErrStopping)
	h.mu.Unlock()
	err := h.server.Shutdown(ctx)
	for _, l := range h.listeners {
		if closing := l.Close(); closing != nil && !errors.Is(closing, net.ErrClosed) {
			err = errors.Join(err, closing) // it was never served
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.served.Wait()
	}()
	select {
	case <-ended:
		if err != nil {
			_ = h.server.Close()
		}
		return err
	case <-ctx.Done():
	}
	h.mu.Lock()
	tabs := make([]*webTransport, 0, len(h.tabs))
	for t := range h.tabs {
		tabs = append(tabs, t)
	}
	h.mu.Unlock()
	for _, t := range tabs {
		_ = t.Close()
	}
	_ = h.server.Close()
	return fmt.Errorf("shut down http: %w", ctx.Err())
}

// count closes a connection that is one too many.
func (h *HTTP) count(c net.Conn, state http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch state {
	case http.StateNew:
		h.plain[c] = struct{}{}
		if len(h.plain) > MaxHTTPConnections {
			h.log.Warn("too many http connections", "limit", MaxHTTPConnections)
			_ = c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		delete(h.plain, c)
	}
}

// contentPolicy is the same as in the window: nothing from elsewhere, nothing inline, no frame around it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler: who may ask is decided here, once, before anything else.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("panic in an http request", "panic", p, "stack", string(debug.Stack()))
			notice(w, http.StatusInternalServerError, "Something went wrong", "The log of the core says what.")
		}
	}()
	head := w.Header()
	head.Set("Content-Security-Policy", contentPolicy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")

	switch {
	case !h.named(r.Host):
		// A page from elsewhere whose name was made to lead here (DNS rebinding) is stopped by this, and whatever a
		// browser kept from another program on this port. The name itself is not told.
		notice(w, http.StatusForbidden, "Not this address", openTheLink)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD")
		notice(w, http.StatusMethodNotAllowed, "Not like this", "These pages can only be read.")
	case r.URL.Path == "/" && r.URL.Query().Has(tokenName):
		h.pair(w, r)
	case !sameOrigin(r):
		notice(w, http.StatusForbidden, "Not from another page", "Open Countersign by the link that countersign serve shows, or by a bookmark.")
	case !h.paired(r):
		notice(w, http.StatusUnauthorized, "This browser is not connected", openTheLink)
	case r.URL.Path == "/wire":
		h.serveTab(w, r)
	default:
		h.servePage(w, r)
	}
}

// named reports whether a Host header has this run's name. The port may be any: it may have been forwarded.
func (h *HTTP) named(host string) bool {
	u, err := url.Parse("http://" + host)
	return err == nil && u.Host == host && u.User == nil && strings.EqualFold(u.Hostname(), h.name)
}

// sameOrigin reports whether a request comes from our own page or from nowhere, as far as the browser says.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && !strings.EqualFold(origin, "http://"+r.Host) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return false
}
