package state

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what every way of printing a Secret shows.
const redacted = "[redacted]"

// Secret is a passphrase or key in memory. Printing, logging and marshalling show "[redacted]"; only Reveal gives the
// bytes. The zero Secret is empty.
type Secret struct{ bytes []byte }

// NewSecret copies value into a Secret.
func NewSecret[T ~string | ~[]byte](value T) Secret {
	return Secret{bytes: append([]byte(nil), value...)}
}

// Reveal returns the bytes themselves, not a copy. Do not keep them.
func (s Secret) Reveal() []byte { return s.bytes }

// Empty reports whether there is nothing in it.
func (s Secret) Empty() bool { return len(s.bytes) == 0 }

// Wipe overwrites the bytes. It is best effort: the runtime may hold copies.
func (s Secret) Wipe() { clear(s.bytes) }

// String returns "[redacted]".
func (s Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (s Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb, so that %x and %q show nothing either.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText writes "[redacted]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[redacted]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
