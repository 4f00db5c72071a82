package bridge

import (
	"fmt"
	"reflect"

	"countersign/backend/wire"
)

// Phase is where the app stands with its core.
type Phase string

// The phases. The table of next (phase.go) says how one leads to another.
const (
	PhaseOpening       Phase = "opening"        // the core is being opened; the keyring may be asking
	PhasePassphrase    Phase = "passphrase"     // the passphrase of this desk's key is needed
	PhaseNewPassphrase Phase = "new_passphrase" // a desk passphrase is to be chosen
	PhaseFault         Phase = "fault"          // the core did not open, or ended by itself
	PhaseElsewhere     Phase = "elsewhere"      // a core without a window holds this desk
	PhaseReady         Phase = "ready"          // the core runs here
	PhaseClosing       Phase = "closing"        // the app is ending
)

// The actions of the app itself. Everything else goes to the core.
const (
	ActionAppStatus           = "app_status"            // Empty -> AppStatus
	ActionAppRetry            = "app_retry"             // Empty -> Empty
	ActionAppUnlock           = "app_unlock"            // AppUnlock -> Empty
	ActionAppTakeOver         = "app_take_over"         // Empty -> Empty
	ActionAppQuit             = "app_quit"              // Empty -> Empty
	ActionAppHide             = "app_hide"              // Empty -> Empty
	ActionAppTestNotification = "app_test_notification" // Empty -> Empty
)

// The events that the app sends to its page. The payload is one JSON text.
const (
	EventFrame    = "frame"    // wire.Frame
	EventLost     = "lost"     // Empty: the subscription ended, take a new snapshot
	EventApp      = "app"      // AppStatus
	EventNavigate = "navigate" // Navigate
)

// Error codes of the app itself.
const (
	CodeNoCore          = "no_core"          // no core runs in this app at the moment
	CodePassphraseShort = "passphrase_short" // args: min, in bytes
	CodeNotNow          = "not_now"          // the phase has no use for this; args: action, phase
	CodeInternal        = "internal_error"
)

// AppStatus is what the app knows about itself.
type AppStatus struct {
	Phase         Phase      `json:"phase"`
	Fault         *Fault     `json:"fault,omitempty"` // with PhaseFault; with PhaseElsewhere why taking over failed
	Version       string     `json:"version"`
	Platform      string     `json:"platform"` // "linux", "darwin" or "windows"
	Language      string     `json:"language"` // of the desktop, as the tray and the notifications speak it where the owner prefers the system's
	Demo          bool       `json:"demo"`     // a desk that is thrown away
	Tray          Part       `json:"tray"`
	Notifications Part       `json:"notifications"`
	Elsewhere     *Elsewhere `json:"elsewhere,omitempty"` // with PhaseElsewhere
}

// Fault is what went wrong: a code with the arguments of its sentence.
type Fault struct {
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
}

// Part is a part of the desktop that may be missing.
type Part struct {
	Available bool   `json:"available"`
	Code      string `json:"code,omitempty"` // why it is not available
}

// Elsewhere describes the core that holds this desk without a window.
type Elsewhere struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Running int    `json:"running"` // calls that are not finished: what a take-over would end
}

// AppUnlock is the passphrase that the app asked for.
type AppUnlock struct {
	Passphrase string `json:"passphrase"`
}

// Format keeps the passphrase out of every printed form.
func (AppUnlock) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// Navigate asks the page to go somewhere, after a gesture outside of it.
type Navigate struct {
	Page     string `json:"page,omitempty"`     // one of the page names of the window
	Question string `json:"question,omitempty"` // the card to open
}

// Actions names the app's own actions with the types of their input and output.
func Actions() map[string][2]reflect.Type {
	empty := reflect.TypeFor[wire.Empty]()
	return map[string][2]reflect.Type{
		ActionAppStatus:           {empty, reflect.TypeFor[AppStatus]()},
		ActionAppRetry:            {empty, empty},
		ActionAppUnlock:           {reflect.TypeFor[AppUnlock](), empty},
		ActionAppTakeOver:         {empty, empty},
		ActionAppQuit:             {empty, empty},
		ActionAppHide:             {empty, empty},
		ActionAppTestNotification: {empty, empty},
	}
}

// Events names the events with the types of their payload.
func Events() map[string]reflect.Type {
	return map[string]reflect.Type{
		EventFrame: reflect.TypeFor[wire.Frame](), EventLost: reflect.TypeFor[wire.Empty](),
		EventApp: reflect.TypeFor[AppStatus](), EventNavigate: reflect.TypeFor[Navigate](),
	}
}
