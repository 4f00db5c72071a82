package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"

	"countersign/backend/approval"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// Action describes one registered action of the wire. JSON Schema, TypeScript types and the reference page are made
// from this list.
type Action struct {
	Name string
	// Capability is what the caller's authority must hold.
	Capability policy.Capability
	// Agents says that a process below an agent may use it. Everything else is refused to such a process by the
	// server side, whatever the program is called.
	Agents bool
	// Idempotent actions may be sent again with the same command id without a second effect.
	Idempotent bool
	In, Out    reflect.Type

	run func(ctx context.Context, x *exchange) (any, error)
}

// exchange is one request on its way through the desk.
type exchange struct {
	caller    Caller
	authority policy.Authority
	commandID string
	args      json.RawMessage
	files     []*os.File // the caller's: they are closed when the action returned
}

// register adds one action with its input and output types.
func register[In, Out any](d *Desk, a Action, fn func(ctx context.Context, x *exchange, in In) (Out, error)) {
	if _, twice := d.actions[a.Name]; twice {
		panic("desk: action registered twice: " + a.Name)
	}
	a.In, a.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	a.run = func(ctx context.Context, x *exchange) (any, error) {
		var in In
		if len(x.args) > 0 {
			dec := json.NewDecoder(bytes.NewReader(x.args))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&in); err != nil {
				return nil, &wire.Error{Code: "bad_arguments", Args: map[string]string{"action": a.Name, "problem": err.Error()}}
			}
		}
		return fn(ctx, x, in)
	}
	d.actions[a.Name] = a
}

// Actions returns every registered action, by name.
func (d *Desk) Actions() []Action {
	list := make([]Action, 0, len(d.actions))
	for _, a := range d.actions {
		list = append(list, a)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// Do runs one action for a caller. It never panics and always answers. The files stay the caller's.
func (d *Desk) Do(ctx context.Context, caller Caller, req wire.Request, files []*os.File) (reply wire.Reply) {
	x := &exchange{caller: caller, commandID: req.CommandID, args: req.Args, files: files}
	defer func() {
		if p := recover(); p != nil {
			reply = d.failure(req, d.bug(fmt.Errorf("panic in %s: %v", req.Action, p)))
		}
	}()
	a, ok := d.actions[req.Action]
	if !ok {
		return d.failure(req, &wire.Error{Code: "unknown_action", Args: map[string]string{"action": req.Action}})
	}
	authority, below := d.authorityOf(caller)
	x.authority = authority
	if below && !a.Agents {
		return d.failure(req, &wire.Error{Code: "agent_not_allowed", Args: map[string]string{"action": req.Action}})
	}
	if a.Capability != "" && !authority.Has(a.Capability) {
		code := "capability_denied"
		if authority.Kind == policy.PrincipalPaired {
			code = "presence_required" // the owner's account, without the owner shown to be there
			if d.window.isOpen() {
				code = "window_open" // where nothing that is typed could show it
			}
		}
		return d.failure(req, &wire.Error{Code: code, Args: map[string]string{"action": req.Action, "capability": string(a.Capability)}})
	}
	out, err := a.run(ctx, x)
	if err != nil {
		return d.failure(req, err)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return d.failure(req, d.bug(fmt.Errorf("encode reply of %s: %w", req.Action, err)))
	}
	return wire.Reply{CommandID: req.CommandID, Applied: true, Result: data}
}

// coder is an error with a code of its own.
type coder interface{ Code() string }

// failure turns an error into a reply. An error without a code is a fault of ours: it is logged, and the screen gets
// the code alone.
func (d *Desk) failure(req wire.Request, err error) wire.Reply {
	reply := wire.Reply{CommandID: req.CommandID}
	var we *wire.Error
	var c coder
	switch {
	case errors.As(err, &we):
		reply.Error = we
	case errors.As(err, &c):
		reply.Error = &wire.Error{Code: c.Code(), Args: argsOf(err)}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		reply.Error = &wire.Error{Code: "cancelled"}
	default:
		d.log.Error("action failed", "action", req.Action, "error", err)
		reply.Error = &wire.Error{Code: "internal_error", Args: map[string]string{"action": req.Action}}
	}
	return reply
}

// argsOf collects what an error offers for its sentence.
func argsOf(err error) map[string]string {
	args := map[string]string{}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		args["hint"] = hinted.Hint()
	}
	var answered *approval.AlreadyAnswered
	if errors.As(err, &answered) {
		args["outcome"] = answered.Outcome
	}
	var detailed interface{ Args() map[string]string }
	if errors.As(err, &detailed) {
		for k, v := range detailed.Args() {
			args[k] = v
		}
	}
	if _, ok := args["detail"]; !ok {
		args["detail"] = err.Error()
	}
	return args
}

// bug reports something that cannot happen. It is logged, and whoever called gets an error, never an allow.
func (d *Desk) bug(err error) error {
	d.log.Error("bug", "error", err)
	return &wire.Error{Code: "internal_error"}
}
