package wire

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// testSigner is an identity with a key made from one byte.
type testSigner struct{ key ed25519.PrivateKey }

func newTestSigner(seed byte) testSigner {
	return testSigner{ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))}
}

func (s testSigner) Public() ed25519.PublicKey  { return s.key.Public().(ed25519.PublicKey) }
func (s testSigner) Sign(message []byte) []byte { return ed25519.Sign(s.key, message) }

func TestFingerprint(t *testing.T) {
	a, b := Fingerprint(newTestSigner('a').Public()), Fingerprint(newTestSigner('b').Public())
	if a == b {
		t.Error("two keys have one fingerprint")
	}
	if len(a) != 26 || strings.Trim(a, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		t.Errorf("fingerprint %q is not 26 characters of lower-case base32", a)
	}
	if again := Fingerprint(newTestSigner('a').Public()); again != a {
		t.Errorf("the same key gives %q and %q", a, again)
	}
}

// helloAnswer plays one hello, and lets the test change the answer.
func helloAnswer(t *testing.T, signer Signer, change func(*CoreHello)) (ClientHello, CoreHello) {
	t.Helper()
	hello := NewClientHello()
	message, err := hello.Encode()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := AnswerHello(message, signer, "epoch-1")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&answer)
	}
	return hello, answer
}

func TestHello(t *testing.T) {
	ours, other := newTestSigner('a'), newTestSigner('b')
	pin := Fingerprint(ours.Public())
	tests := []struct {
		name   string
		signer Signer
		pinned string
		change func(*CoreHello)
		ok     bool
	}{
		{"pinned", ours, pin, nil, true},
		{"not pinned", ours, "", nil, true},
		{"another core", other, pin, nil, false},
		{"another core that claims the fingerprint", other, pin, func(h *CoreHello) { h.Fingerprint = pin }, false},
		{"another core that claims fingerprint and key", other, pin, func(h *CoreHello) {
			h.Fingerprint, h.Public = pin, base64.StdEncoding.EncodeToString(ours.Public())
		}, false},
		{"another epoch", ours, pin, func(h *CoreHello) { h.Epoch = "epoch-2" }, false},
		{"signature of another hello", ours, pin, func(h *CoreHello) {
			h.Signature = base64.StdEncoding.EncodeToString(ours.Sign(signedHello(NewClientHello().Nonce, "epoch-1")))
		}, false},
		{"no signature", ours, pin, func(h *CoreHello) { h.Signature = "" }, false},
		{"garbage for a signature", ours, pin, func(h *CoreHello) { h.Signature = "%" }, false},
		{"no key", ours, pin, func(h *CoreHello) { h.Public = "" }, false},
		{"short key", ours, "", func(h *CoreHello) { h.Public = "AAAA" }, false},
		{"fingerprint that is not the key's, nothing pinned", ours, "", func(h *CoreHello) { h.Fingerprint = "x" }, false},
		{"another version", ours, pin, func(h *CoreHello) { h.Version = 2 }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hello, answer := helloAnswer(t, tt.signer, tt.change)
			got, err := hello.Verify(answer, tt.pinned)
			if (err == nil) != tt.ok {
				t.Fatalf("error %v, want ok %v", err, tt.ok)
			}
			if err != nil && !errors.Is(err, ErrWrongCore) {
				t.Errorf("error %v, want ErrWrongCore", err)
			}
			if tt.ok && got != pin {
				t.Errorf("fingerprint %q, want %q", got, pin)
			}
		})
	}
}

func TestAnswerHelloRefuses(t *testing.T) {
	nonce := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("n", 32)))
	tests := []struct{ name, message, code string }{
		{"not JSON", `hello`, CodeBadHello},
		{"no hello", `{"action":"ping"}`, CodeBadHello},
		{"hello of the wrong type", `{"hello":7}`, CodeBadHello},
		{"null", `{"hello":null}`, CodeBadHello},
		{"NUL", "{\"hello\":\"\x00\"}", CodeBadHello},
		{"newer version", `{"hello":{"version":2,"nonce":"` + nonce + `"}}`, CodeBadVersion},
		{"no version", `{"hello":{"nonce":"` + nonce + `"}}`, CodeBadVersion},
		{"no nonce", `{"hello":{"version":1}}`, CodeBadHello},
		{"short nonce", `{"hello":{"version":1,"nonce":"AAAA"}}`, CodeBadHello},
		{"nonce with a newline, which would shift what is signed", `{"hello":{"version":1,"nonce":"` + nonce[:4] + `\n` + nonce[4:] + `"}}`, CodeBadHello},
		{"nonce that is no base64", `{"hello":{"version":1,"nonce":"` + strings.Repeat("%", 44) + `"}}`, CodeBadHello},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := AnswerHello([]byte(tt.message), newTestSigner('a'), "e")
			var e *Error
			if !errors.As(err, &e) || e.Code != tt.code {
				t.Errorf("error %v, want %s", err, tt.code)
			}
		})
	}
}

func TestPipeName(t *testing.T) {
	a := PipeName(`C:\Users\Ann\AppData\Local\countersign\desk.sock`)
	if !strings.HasPrefix(a, `\\.\pipe\countersign-`) {
		t.Errorf("pipe %q", a)
	}
	if b := PipeName(`c:/users/ann/appdata/local/countersign/desk.sock`); a != b {
		t.Errorf("one path in two spellings gives %q and %q", a, b)
	}
	if b := PipeName(`C:\Users\Bob\AppData\Local\countersign\desk.sock`); a == b {
		t.Error("two paths give one pipe")
	}
	if got := PipeName(`\\.\PIPE\mine`); got != `\\.\PIPE\mine` {
		t.Errorf("a pipe's name became %q", got)
	}
}
