package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	s := NewSecret("hunter2")
	holder := struct{ S Secret }{s}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "holder", holder)
	raw, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{log.String(), string(raw), s.String(), s.GoString(), fmt.Sprint(s), fmt.Sprint(&s), fmt.Sprint(holder)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "% x", "%T%v"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
	}
	for _, text := range texts {
		if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), "68756e74") || strings.Contains(text, "104 117") {
			t.Errorf("shown: %s", text)
		}
	}
	if !strings.Contains(s.String(), redacted) || string(s.Reveal()) != "hunter2" {
		t.Error("Reveal or String is wrong")
	}
	if s.Empty() || !NewSecret([]byte(nil)).Empty() {
		t.Error("Empty is wrong")
	}
	s.Wipe()
	if string(s.Reveal()) == "hunter2" {
		t.Error("Wipe left it")
	}
}

func TestEveryFaultHasCodeAndHint(t *testing.T) {
	faults := []*Fault{
		ErrLocked, ErrDamaged, ErrNewerSchema, ErrNoSpace, ErrInsecure, ErrTooLarge, ErrInterrupted, ErrClosed, ErrTxDone,
		ErrKeyringMissing, ErrKeyringLocked, ErrKeyringFailed, ErrNoIdentity, ErrIdentityMismatch, ErrIdentityDamaged,
		ErrUnknownIdentityStore, ErrPassphraseNeeded, ErrWrongPassphrase, ErrNoPassphrase, ErrTooManyTries, ErrPassphraseForm,
		ErrReceiptsBroken, ErrReceiptExists, ErrNoReceipt, ErrReceiptInvalid,
	}
	seen := map[string]bool{}
	for _, f := range faults {
		if f.Code() == "" || f.Error() == "" || f.Hint() == "" || seen[f.Code()] {
			t.Errorf("%+v", f)
		}
		seen[f.Code()] = true
		if got := Hint(fmt.Errorf("outer: %w", fault("op", "path", f))); got != f.Hint() {
			t.Errorf("%s: hint through wrapping is %q", f.Code(), got)
		}
	}
	// Whatever goes wrong with the keyring, the explicit alternative is named.
	for _, f := range []*Fault{ErrKeyringMissing, ErrKeyringLocked, ErrKeyringFailed} {
		if !strings.Contains(f.Hint(), `identity.store = "file"`) {
			t.Errorf("%s does not name the alternative", f.Code())
		}
	}
	if Hint(errors.New("plain")) != "" || Hint(nil) != "" {
		t.Error("a hint out of nothing")
	}
}
