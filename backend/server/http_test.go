package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// testPages are what a build leaves.
var testPages = fstest.MapFS{
	"index.html":             {Data: []byte("<!doctype html><title>pages</title>")},
	"assets/index-a1b2c3.js": {Data: []byte("export {};")},
	".gitkeep":               {},
	"secret":                 {Data: []byte("no known kind")},
}

// browsing is an HTTP server under test.
type browsing struct {
	*HTTP
	desk *fakeDesk
	log  *lockedLog
	used chan struct{}
	// host is HOST:PORT of the links, address where that is.
	host, address string
}

func startHTTP(t *testing.T, d *fakeDesk, change func(*HTTPOptions)) *browsing {
	t.Helper()
	listeners, err := ListenLoopback("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &browsing{desk: d, log: &lockedLog{}, used: make(chan struct{}, 100), address: listeners[0].Addr().String()}
	o := HTTPOptions{
		Desk: d, Pages: testPages, Listeners: listeners, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		OnUsed: func() { b.used <- struct{}{} },
	}
	if change != nil {
		change(&o)
	}
	if b.HTTP, err = NewHTTP(o); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(b.address)
	b.host = net.JoinHostPort(b.name, port)
	served := make(chan error, 1)
	go func() { served <- b.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := b.Shutdown(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return b
}

// browser is one browser: it keeps cookies and follows redirects, and looks for names below localhost on this machine.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, Timeout: 20 * time.Second}
}

// paired returns a browser that came with a link.
func (b *browsing) paired(t *testing.T) *http.Client {
	t.Helper()
	c := browser(t)
	if status, text, _ := ask(t, c, http.MethodGet, b.Link(), nil); status != http.StatusOK || !strings.Contains(text, "pages") {
		t.Fatalf("the link: %d %s", status, text)
	}
	within(t, b.used, "telling that the link was used")
	return c
}

// keyOf returns the key that the pages of a browser hold, "" for one that came with no link.
func (b *browsing) keyOf(c *http.Client) string {
	for _, cookie := range c.Jar.Cookies(&url.URL{Scheme: "http", Host: b.host, Path: "/"}) {
		for _, one := range b.pairings.paired {
			if one.cookie == cookie.Value {
				return one.key
			}
		}
	}
	return ""
}

// ask sends one request; a header named Host is the request's host.
func ask(t *testing.T, c *http.Client, method, url string, header map[string]string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	req.Host = header["Host"]
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

func TestALinkConnectsOneBrowserOnce(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	stale, link := b.Link(), b.Link()
	first, second := browser(t), browser(t)
	if status, _, _ := ask(t, first, http.MethodGet, stale, nil); status != http.StatusForbidden {
		t.Errorf("a link after which another was made: %d", status)
	}
	for what, header := range map[string]map[string]string{"a preview": nil, "a prefetch": {"Sec-Purpose": "prefetch;prerender"}} {
		method := http.MethodGet
		if header == nil {
			method = http.MethodHead
		}
		if status, _, _ := ask(t, first, method, link, header); status != http.StatusForbidden {
			t.Errorf("%s: %d", what, status)
		}
	}
	if status, text, _ := ask(t, first, http.MethodGet, link, nil); status != http.StatusOK || !strings.Contains(text, "pages") {
		t.Fatalf("the link: %d %s", status, text)
	}
	within(t, b.used, "telling that the link was used")
	if status, text, _ := ask(t, second, http.MethodGet, link, nil); status != http.StatusForbidden || !strings.Contains(text, "newest link") {
		t.Errorf("a second browser: %d %s", status, text)
	}
	if status, text, _ := ask(t, first, http.MethodGet, link, nil); status != http.StatusOK || !strings.Contains(text, "pages") {
		t.Errorf("the same browser again: %d %s", status, text)
	}
	if len(b.used) != 0 {
		t.Error("a link was used twice")
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{u.Query().Get("token"), b.pairings.paired[0].cookie, b.pairings.paired[0].key} {
		if strings.Contains(b.log.String(), secret) {
			t.Error("a secret stands in the log")
		}
	}
}

// TestALinkFollowedFromAnotherPage: the browser counts a redirect as that page's request and sends no strict cookie with it,
// so the answer is a page of ours that leads on.
func TestALinkFollowedFromAnotherPage(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	c := browser(t)
	status, text, header := ask(t, c, http.MethodGet, b.Link(), map[string]string{"Sec-Fetch-Site": "cross-site"})
	if status != http.StatusOK || !strings.Contains(text, `href="/#key=`) {
		t.Fatalf("%d %s", status, text)
	}
	cookie := header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if status, _, _ := ask(t, c, http.MethodGet, "http://"+b.host+"/", map[string]string{"Sec-Fetch-Site": "same-origin"}); status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}

func TestWhoMayAsk(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	paired := b.paired(t)
	_, port, _ := net.SplitHostPort(b.host)
	tests := []struct {
		name, method, path string
		stranger           bool
		header             map[string]string
		status             int
		says               string
	}{
		{name: "the page", path: "/", status: 200, says: "pages"},
		{name: "only its head", method: "HEAD", path: "/", status: 200},
		{name: "a script", path: "/assets/index-a1b2c3.js", status: 200, says: "export"},
		{name: "without a cookie", path: "/", stranger: true, status: 401, says: "newest link"},
		{name: "a script without a cookie", path: "/assets/index-a1b2c3.js", stranger: true, status: 401},
		{name: "the wire without a cookie", path: "/wire", stranger: true, status: 401},
		{name: "a guessed token", path: "/?token=guess", stranger: true, status: 403, says: "newest"},
		{name: "an empty token", path: "/?token=", stranger: true, status: 403},
		{name: "another name that leads here", path: "/", header: map[string]string{"Host": "evil.example:" + port}, status: 403},
		{name: "another name, with a token", path: "/?token=x", header: map[string]string{"Host": "evil.example"}, status: 403, says: "newest link"},
		{name: "a name that begins like ours", path: "/", header: map[string]string{"Host": b.name + ".evil.example"}, status: 403},
		{name: "a name below ours", path: "/", header: map[string]string{"Host": "x." + b.host}, status: 403},
		{name: "our name with the root's dot", path: "/", header: map[string]string{"Host": b.name + ".:" + port}, status: 403},
		{name: "another run's name", path: "/", header: map[string]string{"Host": newName() + ":" + port}, status: 403},
		{name: "localhost", path: "/", header: map[string]string{"Host": "localhost:" + port}, status: 403},
		{name: "the address", path: "/", header: map[string]string{"Host": b.address}, status: 403},
		{name: "the address of version 6", path: "/", header: map[string]string{"Host": "[::1]:" + port}, status: 403},
		{name: "an outer address", path: "/", header: map[string]string{"Host": "192.0.2.1"}, status: 403},
		{name: "no host", path: "/", header: map[string]string{"Host": ":" + port}, status: 403},
		{name: "a forwarded port", path: "/", header: map[string]string{"Host": b.name + ":9999"}, status: 200},
		{name: "a forwarded port is asked for its cookie", path: "/", stranger: true, header: map[string]string{"Host": b.name + ":9999"}, status: 401},
		{name: "from another site", path: "/", header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403},
		{name: "from another port of this machine", path: "/", header: map[string]string{"Sec-Fetch-Site": "same-site"}, status: 403},
		{name: "with another origin", path: "/", header: map[string]string{"Origin": "http://evil.example"}, status: 403},
		{name: "typed by a person", path: "/", header: map[string]string{"Sec-Fetch-Site": "none"}, status: 200},
		{name: "the wire from another origin", path: "/wire", header: map[string]string{"Origin": "http://localhost:1"}, status: 403},
		{name: "the wire without an origin", path: "/wire", status: 403, says: "own page"},
		{name: "the wire without the page's key", path: "/wire", header: map[string]string{"Origin": "http://" + b.host}, status: 403, says: "newest link"},
		{name: "the wire, but no websocket", path: "/wire", header: map[string]string{"Origin": "http://" + b.host, "Sec-WebSocket-Protocol": keyProtocol + b.keyOf(paired)}, status: 426},
		{name: "a post", method: "POST", path: "/", status: 405},
		{name: "a preflight", method: "OPTIONS", path: "/", status: 405},
		{name: "what is not there", path: "/nothing.html", status: 404},
		{name: "a directory", path: "/assets", status: 404},
		{name: "a directory with its slash", path: "/assets/", status: 404},
		{name: "what is no page", path: "/secret", status: 404},
		{name: "the placeholder", path: "/.gitkeep", status: 404},
		{name: "above the pages", path: "/../http.go", status: 404},
		{name: "above, escaped", path: "/%2e%2e/%2e%2e/etc/passwd", status: 404},
		{name: "above, on Windows", path: `/..%5c..%5cx.html`, status: 404},
		{name: "twice a slash", path: "//index.html", status: 404},
		{name: "NUL", path: "/index.html%00.js", status: 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := paired
			if tt.stranger {
				c = browser(t)
			}
			if tt.method == "" {
				tt.method = http.MethodGet
			}
			status, text, header := ask(t, c, tt.method, "http://"+b.host+tt.path, tt.header)
			if status != tt.status || !strings.Contains(text, tt.says) {
				t.Errorf("%d %s", status, text)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Access-Control-Allow-Origin": "",
			} {
				if got := header.Get(name); got != want {
					t.Errorf("%s: %q", name, got)
				}
			}
			cached := strings.Contains(header.Get("Cache-Control"), "immutable")
			if cached != (tt.status == 200 && strings.HasPrefix(tt.path, "/assets/")) {
				t.Errorf("Cache-Control: %q", header.Get("Cache-Control"))
			}
		})
	}
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for address, ok := range map[string]bool{
		"localhost:0": true, "127.0.0.1:0": true, "[::1]:0": true, "127.1.2.3:0": false, "x.localhost:0": false, ":0": false, "0.0.0.0:0": false, "[::]:0": false,
		"192.0.2.1:0": false, "example.com:0": false, "8080": false, "": false,
	} {
		listeners, err := ListenLoopback(address)
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		closeListeners(listeners)
		if err != nil && strings.Contains(address, ":") && !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%q: %v, want ErrNotLoopback", address, err)
		}
	}
}

// TestBothFamiliesAreListenedOn: only 127.0.0.1 was taken, and browsers and ssh's "localhost" look at [::1] first: who
// listened there got the link, and with it the owner's screen.
func TestBothFamiliesAreListenedOn(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("no address of version 6 on this machine: %v", err)
	}
	_ = probe.Close()
	for _, address := range []string{"localhost:0", "127.0.0.1:0", "[::1]:0"} {
		ours, err := ListenLoopback(address)
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(ours[0].Addr().String())
		for _, host := range []string{"127.0.0.1", "::1"} {
			if l, err := net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
				_ = l.Close()
				t.Errorf("%s: somebody else can listen on %s", address, l.Addr())
			}
		}
		closeListeners(ours)
		for _, host := range []string{"127.0.0.1", "::1"} {
			other, err := net.Listen("tcp", net.JoinHostPort(host, port))
			if err != nil {
				t.Skipf("the port was given to another program meanwhile: %v", err)
			}
			if l, err := ListenLoopback(strings.TrimSuffix(address, "0") + port); err == nil {
				closeListeners(l)
				t.Errorf("%s: served although somebody else listens on %s", address, other.Addr())
			}
			_ = other.Close()
		}
	}
}

// TestBothFamiliesAreServed: a link leads to whichever address the browser tries first.
func TestBothFamiliesAreServed(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	if len(b.listeners) < 2 {
		t.Skip("no address of version 6 on this machine")
	}
	for _, l := range b.listeners {
		c := browser(t)
		if status, _, _ := ask(t, c, http.MethodGet, "http://"+l.Addr().String()+"/", map[string]string{"Host": b.host}); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", l.Addr(), status)
		}
	}
}

// TestEveryRunHasAnotherOrigin: the links led to 127.0.0.1, where a preview on the same port had left a service worker
// in the browser: it answered in our place, and took the page's key.
func TestEveryRunHasAnotherOrigin(t *testing.T) {
	first, second := startHTTP(t, newFakeDesk(), nil), startHTTP(t, newFakeDesk(), nil)
	if first.name == second.name {
		t.Errorf("twice the name %s", first.name)
	}
	for _, b := range []*browsing{first, second} {
		u, err := url.Parse(b.Link())
		if err != nil || u.Host != b.host || !strings.HasSuffix(u.Hostname(), ".localhost") || len(u.Hostname()) < 26+len(".localhost") {
			t.Errorf("the link %v, %v", u, err)
		}
	}
}

// TestAnotherCookieOfTheName: whatever is visited on another port of the host can leave a cookie of the same name,
// which comes before ours: the browser was shut out.
func TestAnotherCookieOfTheName(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	c := b.paired(t)
	one := b.pairings.paired[0]
	cookies := b.pairings.name + "=tossed; " + b.pairings.name + "=" + one.cookie
	if status, text, _ := ask(t, browser(t), http.MethodGet, "http://"+b.host+"/", map[string]string{"Cookie": cookies}); status != http.StatusOK {
		t.Errorf("the page: %d %s", status, text)
	}
	header := map[string]string{"Cookie": cookies, "Origin": "http://" + b.host, "Sec-WebSocket-Protocol": keyProtocol + b.keyOf(c)}
	if status, text, _ := ask(t, browser(t), http.MethodGet, "http://"+b.host+"/wire", header); status != http.StatusUpgradeRequired {
		t.Errorf("the wire: %d %s", status, text)
	}
}

// outerListener says that it can be reached from elsewhere.
type outerListener struct{ net.Listener }

func (outerListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func TestNewHTTPRefusesHalfOptions(t *testing.T) {
	listeners, err := ListenLoopback("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer closeListeners(listeners)
	full := HTTPOptions{Desk: newFakeDesk(), Pages: testPages, Listeners: listeners}
	for name, change := range map[string]func(*HTTPOptions){
		"no desk": func(o *HTTPOptions) { o.Desk = nil }, "no pages": func(o *HTTPOptions) { o.Pages = nil },
		"no listener": func(o *HTTPOptions) { o.Listeners = nil },
		"an outer address": func(o *HTTPOptions) {
			o.Listeners = []net.Listener{listeners[0], outerListener{listeners[len(listeners)-1]}}
		},
	} {
		o := full
		change(&o)
		if _, err := NewHTTP(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestShutdownBeforeServe(t *testing.T) {
	listeners, err := ListenLoopback("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHTTP(HTTPOptions{Desk: newFakeDesk(), Pages: testPages, Listeners: listeners})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := h.Serve(); err != nil {
		t.Errorf("serve after shut down: %v", err)
	}
	for _, l := range listeners {
		if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
			t.Errorf("it still listens on %s", l.Addr())
		}
	}
}

func TestTheOldestBrowserGivesWay(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	first := b.paired(t)
	for range MaxBrowsers {
		b.paired(t)
	}
	if status, _, _ := ask(t, first, http.MethodGet, "http://"+b.host+"/", nil); status != http.StatusUnauthorized {
		t.Errorf("the oldest: %d", status)
	}
}

// TestIdleConnectionsAreBounded: any account of the machine can open connections; they must not use up the core's files.
func TestIdleConnectionsAreBounded(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for range MaxHTTPConnections {
		c, err := net.Dial("tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	extra, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = extra.Close() }()
	_ = extra.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := extra.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more: %v", err)
	}
}

// panickingPages fail in a way nobody thought of.
type panickingPages struct{}

func (panickingPages) Open(string) (fs.File, error) { panic("pages") }

func TestAPanicIsAnswered(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), func(o *HTTPOptions) { o.Pages = panickingPages{} })
	c := browser(t)
	if status, _, _ := ask(t, c, http.MethodGet, b.Link(), nil); status != http.StatusInternalServerError {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(b.log.String(), "panic in an http request") {
		t.Error("nothing is logged")
	}
}
