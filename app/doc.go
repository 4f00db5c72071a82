// Package app is the desktop app: the window, the tray and the notifications around a core that runs in the same process.
//
// A second start hands its link to the window that runs and ends before any window library is loaded. The window never
// raises itself: it is shown on a gesture outside of it, which is a link, a click in the tray, or Review on a
// notification, and otherwise only when the app starts. Closing is not deciding: with a tray the window hides and the
// core goes on.
//
// No panic of ours ends the process: the requests of the page, what the window library calls, and every goroutine pass
// through the bridge's guard.
//
// Known limits. On Linux the window library remembers the notifications' buttons in a file of the account's configuration
// directory, whatever COUNTERSIGN_HOME says, and shows a hidden window for a moment at its start. It tells nobody when the
// window is minimised, so that is looked at every two seconds. A tray that comes to the desktop after the app started is
// not noticed before the next start.
package app
