package app

// desktop is what the desktop offers, as far as it can be asked before there is a window.
type desktop struct {
	trayHost      bool // something would draw an icon
	notifications bool
	markup        bool // notifications read "<" and "&" as markup, or may do so
	script        bool // notifications may pass through a script
	dark          bool
}
