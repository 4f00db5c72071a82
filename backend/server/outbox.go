package server

import "sync"

// outbox is what waits for one peer to read it. Nobody waits for the peer: when it is too far behind, push says so, and
// the connection is cut.
type outbox struct {
	transport transport
	wake      chan struct{} // holds one token after a push or finish
	done      chan struct{} // closed when the writer ended

	mu       sync.Mutex // guards the rest
	queue    [][]byte
	bytes    int
	finished bool // nothing more is accepted; what is queued is still written
	broken   bool // the peer cannot be written to
}

func newOutbox(t transport) *outbox {
	return &outbox{transport: t, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// push queues one message and reports whether there was room.
func (o *outbox) push(message []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished || o.broken {
		return true // nobody reads it; that is not the peer being slow
	}
	if len(o.queue) >= MaxQueue || o.bytes+len(message) > MaxQueueBytes {
		o.broken = true
		return false
	}
	o.queue = append(o.queue, message)
	o.bytes += len(message)
	o.signal()
	return true
}

// finish lets the writer end when it has written what is queued.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next takes the oldest message; ok is false when there is none, end when there will be none.
func (o *outbox) next() (message []byte, ok, end bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		return nil, false, true
	}
	if len(o.queue) == 0 {
		return nil, false, o.finished
	}
	message = o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.bytes -= len(message)
	return message, true, false
}

// write writes until finish, or until the peer does not read: then the connection is closed, which ends its reader too.
func (o *outbox) write() {
	defer close(o.done)
	for {
		message, ok, end := o.next()
		if end {
			return
		}
		if !ok {
			<-o.wake
			continue
		}
		if err := o.transport.Send(message); err != nil {
			o.mu.Lock()
			o.broken = true
			o.mu.Unlock()
			_ = o.transport.Close()
			return
		}
	}
}
