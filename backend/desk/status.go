package desk

import (
	"context"
	"os"

	"countersign/backend/policy"
	"countersign/backend/rules"
	"countersign/backend/sandbox"
	"countersign/backend/wire"
)

func (d *Desk) ping(context.Context, *exchange, wire.Empty) (wire.Pong, error) {
	return wire.Pong{Epoch: d.Epoch(), Time: d.clock.Now()}, nil
}

// statusOf describes the running core, with what is degraded.
func (d *Desk) statusOf(ctx context.Context, x *exchange, _ wire.Empty) (wire.Status, error) {
	open, err := d.calls.Pending()
	if err != nil {
		return wire.Status{}, err
	}
	epoch, seq := d.frames.Epoch(), d.frames.Seq()
	pause, err := d.deskPause()
	if err != nil {
		return wire.Status{}, err
	}
	live := 0
	for _, s := range d.sessionsNewestFirst() {
		if s.EndedAt.IsZero() {
			live++
		}
	}
	out := wire.Status{
		Version: d.options.Version, Wire: wire.Version, Pause: pause, Window: d.window.isPresent(), PID: os.Getpid(), Epoch: epoch, Seq: seq, Fingerprint: d.Fingerprint(), StartedAt: d.started,
		Sessions: live, Questions: len(open), Unlocked: x.authority.Kind == policy.PrincipalOwner,
		Boundary: boundaryOf(d.broker.Probe(ctx)), SocketPath: d.options.Dirs.Socket(), StatePath: d.options.Dirs.State,
	}
	for _, p := range out.Boundary.Protections {
		if !p.OK {
			out.Problems = append(out.Problems, wire.Problem{Code: "sandbox_unavailable", Args: map[string]string{"protection": p.Name, "detail": p.Detail, "hint": p.Fix}})
		}
	}
	everywhere, err := d.book.For(rules.Scope{})
	if err != nil {
		return wire.Status{}, err
	}
	for _, u := range everywhere.Unreadable {
		out.Problems = append(out.Problems, wire.Problem{Code: "source_unreadable", Args: map[string]string{"where": u.Where, "problem": u.Err}})
	}
	return out, nil
}

func boundaryOf(r sandbox.Report) wire.Boundary {
	out := wire.Boundary{Enforcement: r.Enforcement, Backend: r.Backend, Version: r.Version}
	for _, p := range r.Protections {
		out.Protections = append(out.Protections, wire.Protection{Name: p.Name, OK: p.OK, Detail: p.Detail, Fix: p.Fix})
	}
	return out
}
