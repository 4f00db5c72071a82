package app

import (
	"context"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// window is what is done to the window. The real one is the library's; tests have their own.
type window interface {
	Show()
	Hide()
	Minimise()
	Minimised() bool
	Background(dark bool)
	Tell(title, text string)
	Emit(name, payload string)
	Quit()
}

// libraryWindow is the window of the library. Its context is the library's own.
type libraryWindow struct{ ctx context.Context }

// Show shows the window and brings it before the owner, also when it was minimised.
func (w libraryWindow) Show() {
	runtime.WindowUnminimise(w.ctx)
	runtime.WindowShow(w.ctx)
}

func (w libraryWindow) Hide()           { runtime.WindowHide(w.ctx) }
func (w libraryWindow) Minimise()       { runtime.WindowMinimise(w.ctx) }
func (w libraryWindow) Minimised() bool { return runtime.WindowIsMinimised(w.ctx) }
func (w libraryWindow) Quit()           { runtime.Quit(w.ctx) }

func (w libraryWindow) Background(dark bool) {
	c := background(dark)
	runtime.WindowSetBackgroundColour(w.ctx, c.R, c.G, c.B, c.A)
}

// Tell says something in a dialog of the system and returns when it was read.
func (w libraryWindow) Tell(title, text string) {
	// What was clicked does not matter: there is one button.
	_, _ = runtime.MessageDialog(w.ctx, runtime.MessageDialogOptions{Type: runtime.InfoDialog, Title: title, Message: text})
}

func (w libraryWindow) Emit(name, payload string) { runtime.EventsEmit(w.ctx, name, payload) }

// noWindow stands for the window before there is one.
type noWindow struct{}

func (noWindow) Show()               {}
func (noWindow) Hide()               {}
func (noWindow) Minimise()           {}
func (noWindow) Minimised() bool     { return false }
func (noWindow) Background(bool)     {}
func (noWindow) Tell(string, string) {}
func (noWindow) Emit(string, string) {}
func (noWindow) Quit()               {}
