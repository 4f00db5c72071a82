package wire

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// Version is the version of the wire that this package speaks.
	Version = 1
	// nonceBytes is the length of a client's nonce.
	nonceBytes = 32
	// helloDomain begins what the core signs, so that the signature means nothing anywhere else.
	helloDomain = "countersign-hello-v1\n"
	// fingerprintLength is the length of a fingerprint: 26 characters of base32 are 130 bits.
	fingerprintLength = 26
)

// Signer signs hellos with the core's identity key.
type Signer interface {
	Public() ed25519.PublicKey
	Sign(message []byte) []byte
}

// ClientHello is the first message of a client.
type ClientHello struct {
	Version int    `json:"version"`
	Nonce   string `json:"nonce"` // base64 of 32 random bytes
}

// CoreHello answers it. Signature covers the nonce and the epoch.
type CoreHello struct {
	Version     int    `json:"version"`
	Epoch       string `json:"epoch"` // UUIDv7 of this run of the core
	Fingerprint string `json:"fingerprint"`
	Public      string `json:"public"`    // base64 of the Ed25519 public key
	Signature   string `json:"signature"` // base64
}

// Fingerprint names a core by its public key: the first 26 characters of the lower-case base32 of its SHA-256.
func Fingerprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return strings.ToLower(text[:fingerprintLength])
}

// NewClientHello makes a hello with a fresh nonce.
func NewClientHello() ClientHello {
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return ClientHello{Version: Version, Nonce: base64.StdEncoding.EncodeToString(nonce)}
}

// Encode turns the hello into a message.
func (h ClientHello) Encode() ([]byte, error) {
	return Encode(struct {
		Hello ClientHello `json:"hello"`
	}{h})
}

// Encode turns the hello into a message.
func (h CoreHello) Encode() ([]byte, error) {
	return Encode(struct {
		Hello CoreHello `json:"hello"`
	}{h})
}

// AnswerHello reads a client's hello and makes the core's answer. Its errors are *Error, to be sent to the client.
func AnswerHello(message []byte, signer Signer, epoch string) (CoreHello, error) {
	bad := func(problem string) error {
		return &Error{Code: CodeBadHello, Args: map[string]string{
			"problem": problem,
			"hint":    "the first message is {\"hello\": {\"version\": 1, \"nonce\": base64 of 32 random bytes}}",
		}}
	}
	if err := check(message, strict); err != nil {
		return CoreHello{}, bad(err.Error())
	}
	var in struct {
		Hello *ClientHello `json:"hello"`
	}
	if err := json.Unmarshal(message, &in); err != nil || in.Hello == nil {
		return CoreHello{}, bad("it is not a hello")
	}
	if in.Hello.Version != Version {
		return CoreHello{}, &Error{Code: CodeBadVersion, Args: map[string]string{
			"version": fmt.Sprint(in.Hello.Version), "supported": fmt.Sprint(Version),
		}}
	}
	nonce, err := base64.StdEncoding.Strict().DecodeString(in.Hello.Nonce)
	if err != nil || len(nonce) != nonceBytes || strings.ContainsAny(in.Hello.Nonce, "\r\n") {
		return CoreHello{}, bad("the nonce is not the base64 of 32 bytes")
	}
	public := signer.Public()
	return CoreHello{
		Version: Version, Epoch: epoch, Fingerprint: Fingerprint(public),
		Public:    base64.StdEncoding.EncodeToString(public),
		Signature: base64.StdEncoding.EncodeToString(signer.Sign(signedHello(in.Hello.Nonce, epoch))),
	}, nil
}

// signedHello is what the core's signature covers.
func signedHello(nonce, epoch string) []byte { return []byte(helloDomain + nonce + "\n" + epoch) }

// Verify checks the core's answer to h: the signature, that the fingerprint is the key's, and, unless pinned is empty,
// that it is the core that was pinned. It returns the fingerprint. Errors wrap ErrWrongCore.
func (h ClientHello) Verify(answer CoreHello, pinned string) (fingerprint string, err error) {
	if answer.Version != Version {
		return "", fmt.Errorf("%w: it speaks version %d of the wire, this program %d", ErrWrongCore, answer.Version, Version)
	}
	public, err := base64.StdEncoding.DecodeString(answer.Public)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return "", fmt.Errorf("%w: its public key cannot be read", ErrWrongCore)
	}
	signature, err := base64.StdEncoding.DecodeString(answer.Signature)
	if err != nil || !ed25519.Verify(public, signedHello(h.Nonce, answer.Epoch), signature) {
		return "", fmt.Errorf("%w: its signature is wrong", ErrWrongCore)
	}
	fingerprint = Fingerprint(public)
	if answer.Fingerprint != fingerprint {
		return "", fmt.Errorf("%w: its fingerprint is not that of its key", ErrWrongCore)
	}
	if pinned != "" && pinned != fingerprint {
		return "", fmt.Errorf("%w: its fingerprint is %s, expected %s", ErrWrongCore, fingerprint, pinned)
	}
	return fingerprint, nil
}
