package bridge

import (
	"encoding/json"
	"errors"
	"strconv"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// minPassphrase is the shortest passphrase that can be chosen, in bytes, as on the command line.
const minPassphrase = 8

// Bridge is what the page can call. It has one method, so that nothing is callable by accident.
type Bridge struct{ host *Host }

// Do takes a wire.Request and returns a wire.Reply, both as JSON. It always answers: a promise of the page that is never
// settled would lock a card for good.
func (b *Bridge) Do(request string) (reply string) {
	h := b.host
	reply = string(failedReply)
	Guarded(h.options.Log, "a request of the page", func() {
		req, err := wire.DecodeRequest([]byte(request))
		var answer wire.Reply
		switch bad, isBad := wire.BadMessage(err); {
		case err == nil:
			answer = h.guarded(req)
		case isBad:
			answer = refuse(req, bad)
		default:
			answer = refuse(req, &wire.Error{Code: CodeInternal})
		}
		reply = encode(answer)
	})
	return reply
}

// failedReply is the answer when not even an answer can be made.
var failedReply = []byte(`{"command_id":"","applied":false,"error":{"code":"internal_error"}}`)

// encode writes a reply. One that is too large or cannot be written becomes an error.
func encode(reply wire.Reply) string {
	message, err := wire.Encode(reply)
	if err != nil {
		code, args := CodeInternal, map[string]string(nil)
		if errors.Is(err, wire.ErrTooLarge) {
			code, args = wire.CodeTooLarge, map[string]string{"limit": "4 MiB"}
		}
		message, err = wire.Encode(wire.Reply{CommandID: reply.CommandID, Applied: reply.Applied, Error: &wire.Error{Code: code, Args: args}})
	}
	if err != nil {
		return string(failedReply)
	}
	return string(message)
}

func refuse(req wire.Request, e *wire.Error) wire.Reply {
	return wire.Reply{CommandID: req.CommandID, Error: e}
}

// guarded answers a request, with its own id also when something panics on the way.
func (h *Host) guarded(req wire.Request) wire.Reply {
	reply := refuse(req, &wire.Error{Code: CodeInternal, Args: map[string]string{"action": req.Action}})
	Guarded(h.options.Log, req.Action, func() { reply = h.do(req) })
	reply.CommandID = req.CommandID
	return reply
}

func (h *Host) do(req wire.Request) wire.Reply {
	if _, local := Actions()[req.Action]; local {
		out, err := h.local(req)
		if err != nil {
			return refuse(req, faultOf(err).wireError())
		}
		data, err := json.Marshal(out)
		if err != nil {
			return refuse(req, &wire.Error{Code: CodeInternal, Args: map[string]string{"action": req.Action}})
		}
		return wire.Reply{Applied: true, Result: data}
	}
	c := h.Core()
	switch {
	case c == nil:
		return refuse(req, &wire.Error{Code: CodeNoCore, Args: map[string]string{"phase": string(h.Status().Phase)}})
	case req.Files > 0:
		return refuse(req, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"action": req.Action, "problem": "the window passes no files"}})
	case req.Action == wire.ActionSubscribe:
		return h.subscribe(c, req)
	}
	return c.Do(h.ctx, req)
}

// local does the app's own actions.
func (h *Host) local(req wire.Request) (any, error) {
	switch req.Action {
	case ActionAppStatus:
		return h.Status(), nil
	case ActionAppRetry:
		return wire.Empty{}, h.order(req, eventRetry)
	case ActionAppTakeOver:
		return wire.Empty{}, h.order(req, eventTakeOver)
	case ActionAppUnlock:
		return wire.Empty{}, h.unlock(req)
	case ActionAppQuit:
		h.options.Quit()
	case ActionAppHide:
		h.options.Hide()
	case ActionAppTestNotification:
		return wire.Empty{}, h.options.TestNotification(h.ctx)
	}
	return wire.Empty{}, nil
}

func notNow(req wire.Request, phase Phase) error {
	return &wire.Error{Code: CodeNotNow, Args: map[string]string{"action": req.Action, "phase": string(phase)}}
}

// order hands the owner's wish to the goroutine that opens the core.
func (h *Host) order(req wire.Request, e event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	phase := h.status.Phase
	if _, ok := next(phase, e); !ok {
		return notNow(req, phase)
	}
	select {
	case h.orders <- e:
		return nil
	default: // one is on its way
		return notNow(req, phase)
	}
}

// unlock gives the passphrase to who asked for it, and waits for what becomes of it.
func (h *Host) unlock(req wire.Request) error {
	var in AppUnlock
	if err := json.Unmarshal(req.Args, &in); err != nil {
		return &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"action": req.Action, "problem": "passphrase must be a text"}}
	}
	phase := h.Status().Phase
	if phase == PhaseNewPassphrase && len(in.Passphrase) < minPassphrase {
		return &wire.Error{Code: CodePassphraseShort, Args: map[string]string{"min": strconv.Itoa(minPassphrase)}}
	}
	verdict := make(chan error, 1)
	if !h.happened(eventUnlock, nil) {
		return notNow(req, phase)
	}
	h.mu.Lock()
	h.verdict = verdict
	h.mu.Unlock()
	select {
	case h.secrets <- desk.NewSecret(in.Passphrase):
	case <-h.ctx.Done():
		return &wire.Error{Code: CodeNoCore}
	}
	select {
	case err := <-verdict:
		return err
	case <-h.ctx.Done():
		return &wire.Error{Code: CodeNoCore}
	}
}
