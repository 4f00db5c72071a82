package tray

// The exit codes by which the helper says why there is no tray. 0 is the end of its input.
const (
	ExitFault       = 1 // a line that is no message, a panic
	ExitUsage       = 2 // of the command line, and Go's own of a panic
	ExitUnsupported = 3 // built without a tray
	ExitNoDesktop   = 4 // no display, or no session bus
)
