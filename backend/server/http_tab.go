package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// serveTab serves the wire to one page, on a WebSocket: the same messages as on the socket, one in each text message,
// without hellos and without files.
func (h *HTTP) serveTab(w http.ResponseWriter, r *http.Request) {
	// Browsers let any page open a WebSocket anywhere, and always say which page it was.
	if !strings.EqualFold(r.Header.Get("Origin"), "http://"+r.Host) {
		notice(w, http.StatusForbidden, "Not from another page", "Only Countersign's own page may connect here.")
		return
	}
	key, protocol := keyOf(r)
	cookie := h.pairings.cookieOf(r, func(cookie string) bool { return h.pairings.opens(cookie, key) })
	if cookie == "" {
		notice(w, http.StatusForbidden, "Not without the page's key", openTheLink)
		return
	}
	t := newWebTransport()
	if !h.admitTab(t) {
		w.Header().Set("Retry-After", strconv.Itoa(int(IdleTimeout.Seconds())))
		notice(w, http.StatusServiceUnavailable, "Too many tabs", "Close some of Countersign's tabs, or wait until it has started again.")
		return
	}
	defer h.releaseTab(t)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, Subprotocols: []string{protocol}})
	if err != nil {
		h.log.Warn("no websocket", "error", err)
		return
	}
	defer t.open(conn)()
	c := &connection{
		desk: h.desk, log: h.log, transport: t, alive: func() bool { return h.pairings.holds(cookie) },
		caller: desk.Caller{Connection: lastConnection.Add(1), Surface: h.surface},
	}
	c.serve(h.stopping)
}

// admitTab counts a tab in and reports whether there is room for it.
func (h *HTTP) admitTab(t *webTransport) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping.Err() != nil || len(h.tabs) >= MaxTabs {
		return false
	}
	h.tabs[t] = struct{}{}
	h.served.Add(1)
	return true
}

func (h *HTTP) releaseTab(t *webTransport) {
	h.mu.Lock()
	delete(h.tabs, t)
	h.mu.Unlock()
	h.served.Done()
}

// errInterrupted ends Receive when the core stops.
var errInterrupted = os.ErrDeadlineExceeded

// webTransport carries messages over a WebSocket. The library closes a connection whose reading is given up, so a goroutine
// of its own reads, and Receive can end without it.
type webTransport struct {
	messages    chan webMessage
	interrupted chan struct{}
	interrupt   func()
	closed      chan struct{}

	mu   sync.Mutex      // guards conn
	conn *websocket.Conn // nil before open
	shut sync.Once
}

type webMessage struct {
	text []byte
	err  error
}

func newWebTransport() *webTransport {
	t := &webTransport{messages: make(chan webMessage), interrupted: make(chan struct{}), closed: make(chan struct{})}
	t.interrupt = sync.OnceFunc(func() { close(t.interrupted) })
	return t
}

// open begins to read from conn. The returned function closes it and waits for the reader.
func (t *webTransport) open(conn *websocket.Conn) (done func()) {
	conn.SetReadLimit(wire.MaxMessage)
	t.mu.Lock()
	t.conn = conn
	t.mu.Unlock()
	select {
	case <-t.closed: // before there was anything to close
		_ = conn.CloseNow()
	default:
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		t.read(conn)
	}()
	return func() {
		_ = t.Close()
		<-read
	}
}

// read hands over messages until the connection ends.
func (t *webTransport) read(conn *websocket.Conn) {
	for {
		kind, text, err := conn.Read(context.Background()) // ended by Close
		switch {
		case err == nil && kind != websocket.MessageText:
			err = errors.New("a binary message")
		case websocket.CloseStatus(err) != -1:
			err = io.EOF
		}
		select {
		case t.messages <- webMessage{text, err}:
		case <-t.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// Receive implements transport.
func (t *webTransport) Receive() ([]byte, error) {
	select {
	case <-t.interrupted:
		return nil, errInterrupted
	default:
	}
	select {
	case m := <-t.messages:
		return m.text, m.err
	case <-t.interrupted:
		return nil, errInterrupted
	case <-t.closed:
		return nil, io.EOF
	}
}

// TakeFiles implements transport: no file travels over a WebSocket.
func (t *webTransport) TakeFiles(n int) ([]*os.File, error) {
	if n != 0 {
		return nil, wire.ErrFilesUnsupported
	}
	return nil, nil
}

// Send implements transport.
func (t *webTransport) Send(message []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), WriteTimeout)
	defer cancel()
	return t.conn.Write(ctx, websocket.MessageText, message)
}

// Interrupt implements transport.
func (t *webTransport) Interrupt() { t.interrupt() }

// Close implements transport.
func (t *webTransport) Close() error {
	t.shut.Do(func() { close(t.closed) })
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.CloseNow()
}
