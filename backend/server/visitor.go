package server

import (
	"context"
	"errors"
	"net"
	"time"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// visitor is who connected to the socket: identified, greeted, and then served as a connection, all by one goroutine.
type visitor struct {
	server *Server
	conn   *wire.Conn
	number uint64
}

func newVisitor(s *Server, raw net.Conn) *visitor {
	return &visitor{server: s, conn: wire.NewConn(raw), number: lastConnection.Add(1)}
}

// turnAway tells the peer why it is not served and closes the connection.
func (v *visitor) turnAway(why *wire.Error) {
	defer func() { _ = v.conn.Close() }()
	message, err := wire.Encode(wire.Reply{Error: why})
	if err != nil {
		return
	}
	_ = v.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = v.conn.Send(message, nil)
}

// serve serves the visitor until the peer is gone or the core stops.
func (v *visitor) serve() {
	s := v.server
	peer, witness, err := identify(v.conn.Conn)
	if err != nil {
		s.log.Warn("peer refused", "connection", v.number, "error", err)
		v.turnAway(refusal(err))
		return
	}
	defer witness.close()
	if !s.admitPeer(peer.Chain[0]) {
		s.log.Warn("too many connections of one process", "pid", peer.Chain[0].PID, "name", peer.Chain[0].Name)
		v.turnAway(busy("connections", MaxConnectionsPerPeer))
		return
	}
	defer s.releasePeer(peer.Chain[0])

	// From here on the core's end unblocks whatever this connection reads or writes.
	over := socketTransport{v.conn}
	unblock := context.AfterFunc(s.stopping, over.Interrupt)
	defer unblock()
	if !v.greet(over) {
		return
	}
	c := &connection{
		desk: s.desk, log: s.log, transport: over, alive: witness.alive,
		caller: desk.Caller{Peer: peer, Connection: v.number, Surface: desk.SurfaceSocket},
	}
	c.serve(s.stopping)
}

// greet exchanges hellos and reports whether the peer may go on.
func (v *visitor) greet(over socketTransport) bool {
	_ = v.conn.SetReadDeadline(time.Now().Add(HelloTimeout))
	if v.server.stopping.Err() != nil {
		_ = v.conn.Close()
		return false
	}
	message, err := v.conn.Receive()
	if err != nil {
		if bad, ok := wire.BadMessage(err); ok {
			v.turnAway(bad)
		}
		_ = v.conn.Close()
		return false
	}
	answer, err := wire.AnswerHello(message, v.server.signer, v.server.epoch)
	if err != nil {
		v.turnAway(asError(err))
		return false
	}
	if message, err = answer.Encode(); err == nil {
		err = over.Send(message)
	}
	if err != nil {
		_ = v.conn.Close()
		return false
	}
	_ = v.conn.SetReadDeadline(time.Time{})
	if v.server.stopping.Err() != nil {
		over.Interrupt() // it may have been done before it was lifted
	}
	return true
}

// socketTransport carries messages over the socket or named pipe.
type socketTransport struct{ *wire.Conn }

// Send implements transport.
func (t socketTransport) Send(message []byte) error {
	_ = t.SetWriteDeadline(time.Now().Add(WriteTimeout))
	_, err := t.Conn.Send(message, nil)
	return err
}

// Interrupt implements transport.
func (t socketTransport) Interrupt() { _ = t.SetReadDeadline(time.Unix(1, 0)) }

// refusal tells a peer why it was not let in.
func refusal(err error) *wire.Error {
	e := &wire.Error{Code: wire.CodeWrongUser, Args: map[string]string{"problem": ErrPeerUnknown.Error()}}
	for _, why := range []error{ErrWrongUser, ErrTooDeep} {
		if errors.Is(err, why) {
			e.Args["problem"] = why.Error()
		}
	}
	return e
}
