package bridge

import (
	"encoding/json"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// subscription is the page's stream of frames.
type subscription struct {
	cancel func()
	done   <-chan struct{}
}

// subscribe opens the page's stream in place of the one it had, and returns the reply. A frame may reach the page before
// the reply does, because the two go separate ways: the page keeps what comes early.
func (h *Host) subscribe(c Core, req wire.Request) wire.Reply {
	var args wire.Subscribe
	if len(req.Args) > 0 {
		if err := json.Unmarshal(req.Args, &args); err != nil {
			return refuse(req, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{
				"action": req.Action, "problem": "epoch must be a string and after a number",
			}})
		}
	}
	h.subscribing.Lock()
	defer h.subscribing.Unlock()
	h.endSubscriptionLocked()
	sub, err := c.Subscribe(args.Epoch, args.After)
	if err != nil {
		return refuse(req, faultOf(err).wireError())
	}
	stop := make(chan struct{})
	done := Go(h.options.Log, "frames for the page", func() { h.forward(sub, stop) })
	h.subscription = &subscription{done: done, cancel: func() { close(stop); sub.Cancel() }}
	h.options.Subscribed()
	return wire.Reply{CommandID: req.CommandID, Applied: true, Result: sub.Reply}
}

// forward sends frames until stop, or until the desk gives the page up as too slow or ends: then the page is told that
// it must take a new snapshot.
func (h *Host) forward(sub desk.Subscription, stop <-chan struct{}) {
	defer sub.Cancel()
	for {
		select {
		case <-stop:
			return
		case f, ok := <-sub.Frames:
			if !ok {
				select {
				case <-stop:
				default:
					h.Emit(EventLost, wire.Empty{})
				}
				return
			}
			h.Emit(EventFrame, f)
		}
	}
}

// endSubscription ends the page's stream, because the core ends, and says so.
func (h *Host) endSubscription() {
	h.subscribing.Lock()
	defer h.subscribing.Unlock()
	if h.endSubscriptionLocked() {
		h.Emit(EventLost, wire.Empty{})
	}
}

func (h *Host) endSubscriptionLocked() (had bool) {
	s := h.subscription
	h.subscription = nil
	if s == nil {
		return false
	}
	s.cancel()
	<-s.done
	return true
}
