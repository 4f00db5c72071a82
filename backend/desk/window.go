package desk

import "sync"

// window is what the core knows of the window of its own process.
type window struct {
	mu      sync.Mutex // guards both
	present bool       // there is one, shown or hidden
	open    bool       // it can be seen now
}

// SetWindow tells whether this core has a window, and whether it is open now. While it is open the owner answers there,
// and no terminal speaks for the owner, whatever was typed on it before: a passphrase on a terminal would only serve
// whoever wants to answer unseen.
func (d *Desk) SetWindow(present, open bool) {
	d.window.mu.Lock()
	defer d.window.mu.Unlock()
	d.window.present, d.window.open = present, present && open
}

func (w *window) isPresent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.present
}

func (w *window) isOpen() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}
