package app

import (
	"context"
	goruntime "runtime"
	"sync"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// window is what is done to the window. The real one is the library's; tests have their own.
type window interface {
	Show()
	Hide()
	Minimise()
	Minimised() bool
	Watch(seen func())
	Background(dark bool)
	Tell(title, text string)
	Emit(name, payload string)
	Quit()
}

// libraryWindow is the window of the library. Its context is the library's own.
type libraryWindow struct {
	ctx context.Context

	mu   sync.Mutex // guards left; held while the window is shown or hidden
	left *place     // where the window was before it was hidden; nil while it is shown
}

// place is a position on the desktop, in its pixels.
type place struct{ x, y int }

// Show shows the window and brings it before the owner, also when it was minimised.
func (w *libraryWindow) Show() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if left := w.left; left != nil {
		w.left = nil
		w.putBack(*left)
	}
	runtime.WindowUnminimise(w.ctx)
	runtime.WindowShow(w.ctx)
}

// Hide hides the window.
func (w *libraryWindow) Hide() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == nil && placesAnew && !runtime.WindowIsMaximised(w.ctx) && !runtime.WindowIsFullscreen(w.ctx) {
		x, y := runtime.WindowGetPosition(w.ctx)
		w.left = &place{x, y}
	}
	runtime.WindowHide(w.ctx)
}

// placesAnew: on Linux a window manager places a window that comes back as if it were a new one.
const placesAnew = goruntime.GOOS == "linux"

// putBack asks for the place where a hidden window was. The library reads positions from the desktop's corner and
// sets them from the monitor's, and does not say where the monitor is: so it is asked where the monitor's corner
// came to be. It answers in turn, after what was asked before. Wayland knows no positions; there it stays as the
// desktop wants it.
func (w *libraryWindow) putBack(to place) {
	set := func(p place) (now place) {
		runtime.WindowSetPosition(w.ctx, p.x, p.y)
		runtime.WindowGetPosition(w.ctx) // setting takes two turns
		now.x, now.y = runtime.WindowGetPosition(w.ctx)
		return now
	}
	corner := set(place{})
	if now := set(place{to.x - corner.x, to.y - corner.y}); now != to { // it does not answer as it should
		set(to)
	}
}

func (w *libraryWindow) Minimise()       { runtime.WindowMinimise(w.ctx) }
func (w *libraryWindow) Minimised() bool { return runtime.WindowIsMinimised(w.ctx) }
func (w *libraryWindow) Quit()           { runtime.Quit(w.ctx) }

// eventSeen is what the page sends when its window was minimised or came back.
const eventSeen = "countersign:seen"

// watchScript makes the page send eventSeen. Said twice to the same page it still sends once.
const watchScript = `document.onvisibilitychange = () => window.runtime.EventsEmit("` + eventSeen + `")`

// Watch calls seen whenever the window was minimised or came back. The library has no such event, the web view has:
// it tells its page. It is called for every page that is loaded.
func (w *libraryWindow) Watch(seen func()) {
	runtime.EventsOff(w.ctx, eventSeen)
	runtime.EventsOn(w.ctx, eventSeen, func(...any) { seen() })
	runtime.WindowExecJS(w.ctx, watchScript)
}

func (w *libraryWindow) Background(dark bool) {
	c := background(dark)
	runtime.WindowSetBackgroundColour(w.ctx, c.R, c.G, c.B, c.A)
}

// Tell says something in a dialog of the system and returns when it was read.
func (w *libraryWindow) Tell(title, text string) {
	// What was clicked does not matter: there is one button.
	_, _ = runtime.MessageDialog(w.ctx, runtime.MessageDialogOptions{Type: runtime.InfoDialog, Title: title, Message: text})
}

func (w *libraryWindow) Emit(name, payload string) { runtime.EventsEmit(w.ctx, name, payload) }

// noWindow stands for the window before there is one.
type noWindow struct{}

func (noWindow) Show()               {}
func (noWindow) Hide()               {}
func (noWindow) Minimise()           {}
func (noWindow) Minimised() bool     { return false }
func (noWindow) Watch(func())        {}
func (noWindow) Background(bool)     {}
func (noWindow) Tell(string, string) {}
func (noWindow) Emit(string, string) {}
func (noWindow) Quit()               {}
