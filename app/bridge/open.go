package bridge

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// errPanicked is what an attempt ends with that did not come to its end; the panic was logged.
var errPanicked = errors.New("a fault of the program")

// run opens the core and keeps it, from attempt to attempt, until the host is closed.
func (h *Host) run() {
	order := eventRetry
	for h.ctx.Err() == nil {
		c, err := h.attempt(order)
		typed := h.settle(err)
		switch {
		case err == nil:
			order = h.keep(c)
		case h.ctx.Err() != nil:
			return
		case typed && asksAgain(err):
			order = eventRetry
		default:
			order = h.stuck(err)
		}
	}
}

// attempt opens the core; with a take-over it ends the one that holds the store first.
func (h *Host) attempt(order event) (c Core, err error) {
	err = errPanicked
	Guarded(h.options.Log, "opening the core", func() {
		if order == eventTakeOver {
			if _, err = h.options.Stop(h.ctx, h.options.Dirs); err != nil && !errors.Is(err, wire.ErrNoCore) {
				return
			}
		}
		var given *desk.Secret // what unlocked the key, if anything did
		c, err = h.options.Start(h.ctx, core.Options{
			Dirs: h.options.Dirs, Agents: h.options.Agents, ThrowAway: h.options.Demo, Version: h.options.Version, Log: h.options.Log,
			Passphrase: func(conf config.Config) (desk.Secret, error) {
				secret, err := h.passphrase(conf)
				if err == nil {
					given = &secret
				}
				return secret, err
			},
		}, func(d *desk.Desk, _ config.Config) error { return keepPassphrase(d, given) })
	})
	return c, err
}

// keepPassphrase makes what unlocks the key also what terminal answers need, unless there is such a passphrase already.
func keepPassphrase(d *desk.Desk, given *desk.Secret) error {
	if given == nil {
		return nil
	}
	if has, err := d.HasPassphrase(); err != nil || has {
		return err
	}
	return d.SetPassphrase(*given)
}

// passphrase gets the passphrase: from where it is known, or from the owner through the page.
func (h *Host) passphrase(conf config.Config) (desk.Secret, error) {
	if secret, ok, err := h.options.Passphrase(conf); err != nil {
		return secret, &passphraseFileError{err}
	} else if ok {
		return secret, nil
	}
	ask := eventAsk
	if !hasKeyFile(h.options.Dirs) {
		ask = eventAskNew
	}
	h.happened(ask, nil)
	select {
	case secret := <-h.secrets:
		return secret, nil
	case <-h.ctx.Done():
		return desk.Secret{}, context.Cause(h.ctx)
	}
}

// hasKeyFile reports whether a file identity stands in the state directory. What cannot be looked at counts as there:
// the state package says what is wrong with it.
func hasKeyFile(dirs config.Dirs) bool {
	_, err := os.Lstat(filepath.Join(dirs.State, desk.KeyFile))
	return !errors.Is(err, os.ErrNotExist)
}

// settle tells who typed a passphrase what became of it. typed is false where nobody did.
func (h *Host) settle(err error) (typed bool) {
	h.mu.Lock()
	verdict := h.verdict
	h.verdict = nil
	h.mu.Unlock()
	if verdict != nil {
		verdict <- err // buffered
	}
	return verdict != nil
}

// asksAgain reports whether only the passphrase was wrong. One that was not typed would be just as wrong the next time.
func asksAgain(err error) bool {
	code := faultOf(err).Code
	return code == codePassphraseWrong || code == codePassphraseForm
}

// keep has the core until it ends or the host is closed.
func (h *Host) keep(c Core) event {
	ctx, stop := context.WithCancel(h.ctx)
	following := Go(h.options.Log, "following the core", func() { h.options.Follow(ctx, c) })
	h.mu.Lock()
	h.core = c
	window := h.window
	h.mu.Unlock()
	c.SetWindow(window.present, window.open)
	h.happened(eventOpened, nil)
	select {
	case <-c.Done():
	case <-h.ctx.Done():
	}
	h.mu.Lock()
	h.core = nil
	h.mu.Unlock()
	h.endSubscription()
	stop()
	<-following
	err := errPanicked
	Guarded(h.options.Log, "closing the core", func() { err = c.Close() })
	if err != nil {
		h.options.Log.Error("close the core", "error", err)
	}
	if h.ctx.Err() != nil {
		return eventClose
	}
	fault := &Fault{Code: codeCoreEnded, Args: map[string]string{}}
	if err != nil {
		fault = faultOf(err)
	}
	h.happened(eventEnded, func(s *AppStatus) { s.Fault = fault })
	return h.await(nil)
}

// stuck shows why the core did not open, and waits for what the owner wants.
func (h *Host) stuck(err error) event {
	h.options.Log.Warn("the core did not open", "error", err)
	fault := faultOf(err)
	var stop *core.StopError
	if fault.Code == codeStoreLocked || errors.As(err, &stop) {
		if other, client := h.elsewhere(); other != nil {
			defer func() { _ = client.Close() }() // nothing is under way
			h.happened(eventHeld, func(s *AppStatus) {
				s.Elsewhere = other
				if stop != nil {
					s.Fault = fault
				}
			})
			return h.await(client.Done())
		}
	}
	h.happened(eventFailed, func(s *AppStatus) { s.Fault = fault })
	return h.await(nil)
}

// elsewhere asks who holds this desk's store. It is nobody when the core there does not answer, or has a window: that one
// is not taken over.
func (h *Host) elsewhere() (*Elsewhere, *wire.Client) {
	client, err := core.Dial(h.ctx, h.options.Dirs, "")
	if err != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(h.ctx, core.DialTimeout)
	defer cancel()
	var st wire.Status
	if err := client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st); err != nil || st.Window {
		_ = client.Close() // it is of no use
		return nil, nil
	}
	return &Elsewhere{PID: st.PID, Version: st.Version, Running: st.Calls}, client
}

// await waits for an order of the owner, or for the other core's end, and goes back to opening.
func (h *Host) await(ended <-chan struct{}) event {
	for {
		e := eventRetry
		select {
		case e = <-h.orders:
		case <-ended:
		case <-h.ctx.Done():
			return eventClose
		}
		if h.happened(e, nil) {
			h.dropOrders()
			return e
		}
		if h.ctx.Err() != nil {
			return eventClose
		}
	}
}

// dropOrders forgets an order that came too late. It must not wait for the next fault: a take-over is wanted now or not
// at all. None can come any more, because the phase takes none.
func (h *Host) dropOrders() {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.orders:
	default:
	}
}
