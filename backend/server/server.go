package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// Desk is what the server needs of the desk.
type Desk interface {
	// Do runs one action and answers it. ctx ends when the peer is gone or the core stops; context.Cause tells which
	// (desk.ErrClientGone, desk.ErrStopping). Do must then return soon. The files belong to the server and are closed
	// when Do returns; to keep one, Do sets its element to nil.
	Do(ctx context.Context, caller desk.Caller, req wire.Request, files []*os.File) wire.Reply
	// Subscribe opens the caller's stream of frames.
	Subscribe(caller desk.Caller, epoch string, after uint64) (desk.Subscription, error)
	// Gone is called once for every caller that was let in, after its last Do and Subscribe returned.
	Gone(caller desk.Caller)
}

// Options says what a Server serves.
type Options struct {
	Desk     Desk
	Signer   wire.Signer  // the core's identity
	Epoch    string       // UUIDv7 of this run of the core
	Listener net.Listener // from Listen; the server takes it over
	Log      *slog.Logger // nil: nothing is logged. Arguments and results never are
}

// Server serves one listener.
//
// Lock order: Server.mu, then connection.mu.
type Server struct {
	desk     Desk
	signer   wire.Signer
	epoch    string
	listener net.Listener
	log      *slog.Logger

	stopping context.Context // ends with desk.ErrStopping
	stop     context.CancelCauseFunc
	served   sync.WaitGroup // every connection, and Serve

	mu       sync.Mutex // guards the rest
	started  bool
	visitors map[*visitor]struct{}
	peers    map[peerKey]int // connections per process
}

// peerKey names a process.
type peerKey struct {
	pid   int
	start uint64
}

// New returns a server. It accepts nothing before Serve.
func New(o Options) (*Server, error) {
	switch {
	case o.Desk == nil, o.Signer == nil, o.Listener == nil:
		return nil, errors.New("new server: desk, signer and listener must be given")
	case o.Epoch == "":
		return nil, errors.New("new server: the epoch must be given")
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		desk: o.Desk, signer: o.Signer, epoch: o.Epoch, listener: o.Listener, log: log,
		visitors: map[*visitor]struct{}{}, peers: map[peerKey]int{},
	}
	s.stopping, s.stop = context.WithCancelCause(context.Background())
	return s, nil
}

// Limits of waiting after a failed accept, e.g. when the process is out of descriptors.
const (
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second
)

// Serve accepts connections until Shutdown, then returns nil; the connections may still be ending.
func (s *Server) Serve() error {
	s.mu.Lock()
	if s.started {
		s.mu.Unlock()
		return errors.New("serve: called twice")
	}
	s.started = true
	if s.stopping.Err() == nil {
		s.served.Add(1)
		defer s.served.Done()
	}
	s.mu.Unlock()

	pause := acceptPauseMin
	for {
		raw, err := s.listener.Accept()
		switch {
		case s.stopping.Err() != nil:
			if err == nil {
				_ = raw.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("serve: %w", err)
		case err != nil:
			s.log.Warn("accept failed", "error", err)
			select {
			case <-time.After(pause):
			case <-s.stopping.Done():
			}
			pause = min(2*pause, acceptPauseMax)
			continue
		}
		pause = acceptPauseMin
		s.accept(raw)
	}
}

// accept starts serving a connection, unless there are too many.
func (s *Server) accept(raw net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Err() != nil {
		_ = raw.Close()
		return
	}
	v := newVisitor(s, raw)
	if len(s.visitors) >= MaxConnections {
		s.log.Warn("too many connections", "limit", MaxConnections)
		s.served.Add(1)
		go func() {
			defer s.served.Done()
			v.turnAway(busy("connections", MaxConnections))
		}()
		return
	}
	s.visitors[v] = struct{}{}
	s.served.Add(1)
	go func() {
		defer s.served.Done()
		defer s.forget(v)
		v.serve()
	}()
}

func (s *Server) forget(v *visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.visitors, v)
}

// admitPeer counts a connection for its process and reports whether it may have one more.
func (s *Server) admitPeer(p wire.Process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := peerKey{p.PID, p.Start}
	if s.peers[key] >= MaxConnectionsPerPeer {
		return false
	}
	s.peers[key]++
	return true
}

func (s *Server) releasePeer(p wire.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := peerKey{p.PID, p.Start}
	if s.peers[key]--; s.peers[key] <= 0 {
		delete(s.peers, key)
	}
}

// Shutdown stops accepting, ends the context of every request with desk.ErrStopping, waits until they are answered and
// the answers are written, and closes the connections. When ctx ends first the connections are cut and its error is
// returned; a request whose handler does not return is then left behind.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stop(desk.ErrStopping)
	closing := s.listener.Close()
	if errors.Is(closing, net.ErrClosed) {
		closing = nil
	}
	s.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.served.Wait()
	}()
	select {
	case <-ended:
		return closing
	case <-ctx.Done():
	}
	s.mu.Lock()
	for v := range s.visitors {
		_ = v.conn.Close()
	}
	s.mu.Unlock()
	return fmt.Errorf("shut down: %w", ctx.Err())
}

func busy(what string, limit int) *wire.Error {
	return &wire.Error{Code: wire.CodeBusy, Args: map[string]string{"what": what, "limit": fmt.Sprint(limit)}}
}
