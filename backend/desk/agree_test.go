package desk_test

import (
	"testing"

	"countersign/backend/state"
	"countersign/backend/wire"
)

// A hook pins the core by the fingerprint that the wire computes; receipts and principals carry the one that the state
// computes. The two packages may not know each other, so here is where they have to agree.
func TestFingerprintsAgree(t *testing.T) {
	f := newFixture(t, "")
	public := f.desk.Identity().Public()
	if w, s := wire.Fingerprint(public), state.Fingerprint(public); w != s || s != f.desk.Fingerprint() {
		t.Errorf("wire says %s, state %s, the desk %s", w, s, f.desk.Fingerprint())
	}
}
