package claude

import (
	"context"
	"errors"
	"time"

	"countersign/backend/wire"
)

var (
	// errDeadline means that nobody answered within the hook's own time.
	errDeadline = errors.New("nobody answered in time")
	// errWithdrawn means that the agent ended the hook.
	errWithdrawn = errors.New("the agent withdrew the call")
	// errConfused means that the core answered about something else than was asked.
	errConfused = errors.New("the desk answered about another call")
)

// awaitPace keeps a core that answers a wait at once from being asked in a circle.
const awaitPace = 250 * time.Millisecond

// decide admits a call and waits until it is decided. A broken connection is made again and the call admitted again
// under the same key, which finds the wait where it was. Every error means no.
func (h *hook) decide(ctx context.Context, call wire.AdmitCall) (wire.CallStatus, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, h.deadline, errDeadline)
	defer cancel()
	try := newPatience(firstContact)
	confirmed := "" // id of the call, once the core has admitted it
	for {
		var status wire.CallStatus
		err := h.link.do(ctx, answerLimit, wire.ActionAdmitCall, call, &status)
		if err == nil {
			confirmed = status.Call
			status, err = h.await(ctx, status)
			if err == nil {
				return status, nil
			}
			if again(err) {
				try = newPatience(h.options.Reattach)
			}
		}
		if ctx.Err() != nil {
			h.withdraw(confirmed, false)
			if errors.Is(context.Cause(ctx), errDeadline) {
				return wire.CallStatus{}, errDeadline
			}
			return wire.CallStatus{}, errWithdrawn
		}
		var unreachable *connectError
		switch {
		case !again(err):
			return wire.CallStatus{}, err
		case confirmed == "" && errors.As(err, &unreachable):
			return wire.CallStatus{}, err // connecting has its own patience
		case !try.wait(ctx):
			if ctx.Err() != nil {
				continue
			}
			if confirmed != "" {
				return wire.CallStatus{}, errors.Join(errLost, err)
			}
			return wire.CallStatus{}, err
		}
	}
}

// await polls a waiting call until it waits no longer.
func (h *hook) await(ctx context.Context, status wire.CallStatus) (wire.CallStatus, error) {
	for status.Waiting() {
		began := time.Now()
		in := wire.AwaitCall{Call: status.Call, WaitMS: int(h.options.Poll.Milliseconds())}
		var next wire.CallStatus
		if err := h.link.do(ctx, h.options.Poll+awaitSlack, wire.ActionAwaitCall, in, &next); err != nil {
			return wire.CallStatus{}, err
		}
		if next.Call != status.Call {
			return wire.CallStatus{}, errConfused
		}
		status = next
		if status.Waiting() && time.Since(began) < awaitPace {
			timer := time.NewTimer(awaitPace)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
		}
		if err := ctx.Err(); err != nil && status.Waiting() {
			return wire.CallStatus{}, err
		}
	}
	return status, nil
}

// withdraw tells the core that nobody waits for a call any more, so that its card is closed. It is a courtesy: the
// core also sees the agent's process end.
func (h *hook) withdraw(call string, answeredInAgent bool) {
	if call == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = h.link.do(ctx, farewell, wire.ActionCancelCall, wire.CancelCall{Call: call, AnsweredInAgent: answeredInAgent}, nil)
}
