package state

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"countersign/backend/capability"
)

const (
	// PredicateType names our in-toto predicate.
	PredicateType = "https://countersign.dev/receipt/v1"

	statementType = "https://in-toto.io/Statement/v1"
	payloadType   = "application/vnd.in-toto+json"
	digestPrefix  = "sha256:"

	// maxEntry bounds one line of a segment.
	maxEntry = 4 << 20
)

// Torn names the bytes of an entry that a crash cut off. Its Append had not returned, so nothing relied on it.
type Torn struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// Entry is one receipt record in its place in the chain.
type Entry struct {
	Sequence uint64            `json:"sequence"` // from 1
	Segment  int               `json:"segment"`  // from 1
	Digest   string            `json:"digest"`   // of the line as it is stored
	Previous string            `json:"previous"` // digest of the entry before; "" for the first
	Torn     []Torn            `json:"torn,omitempty"`
	Follows  *SetAside         `json:"follows,omitempty"`
	Record   capability.Record `json:"record"`
	Envelope json.RawMessage   `json:"-"` // the line as it is stored, for export
}

// statement is an in-toto Statement v1 (github.com/in-toto/attestation/spec/v1). Its subject is the record.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// predicate binds the record to its place.
type predicate struct {
	Sequence uint64          `json:"sequence"`
	Segment  int             `json:"segment"`
	Previous string          `json:"previous"`
	Torn     []Torn          `json:"torn,omitempty"`
	Follows  *SetAside       `json:"follows,omitempty"`
	Record   json.RawMessage `json:"record"`
}

// lineDigest returns the digest of a line without its line end. It covers payload and signature.
func lineDigest(line []byte) string {
	sum := sha256.Sum256(line)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// sign puts the record into a signed envelope (DSSE v1.0.2) and returns it as one line, with its line end.
func (p predicate) sign(id *Identity, record capability.Record) ([]byte, error) {
	// What has no canonical form, invalid UTF-8 in a path for one, would be signed as something else than was meant.
	if capability.Digest(record) == "" {
		return nil, fmt.Errorf("%w: it has no canonical form", ErrReceiptInvalid)
	}
	raw, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	p.Record = raw
	payload, err := json.Marshal(statement{
		Type:          statementType,
		Subject:       []subject{{Name: subjectName(record.ID), Digest: subjectDigest(raw)}},
		PredicateType: PredicateType,
		Predicate:     p,
	})
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(dsse.Envelope{
		PayloadType: payloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{
			KeyID: id.Fingerprint(),
			Sig:   base64.StdEncoding.EncodeToString(id.Sign(dsse.PAE(payloadType, payload))),
		}},
	})
	if err != nil {
		return nil, err
	}
	if len(line) >= maxEntry {
		return nil, fmt.Errorf("%w: the entry has %d bytes", ErrTooLarge, len(line))
	}
	return append(line, '\n'), nil
}

func subjectName(id string) string { return "record/" + id }

func subjectDigest(record json.RawMessage) map[string]string {
	return map[string]string{"sha256": strings.TrimPrefix(capability.Digest(record), digestPrefix)}
}

// parsed is a line taken apart; nothing about it is proved yet.
type parsed struct {
	envelope  dsse.Envelope
	payload   []byte
	signature []byte
	statement statement
}

// parseLine takes a line apart. Only the exact form that sign writes is read: a line that says the same in other
// bytes is not ours.
func parseLine(line []byte) (parsed, error) {
	var p parsed
	if err := json.Unmarshal(line, &p.envelope); err != nil {
		return parsed{}, err
	}
	if len(p.envelope.Signatures) != 1 {
		return parsed{}, fmt.Errorf("it has %d signatures", len(p.envelope.Signatures))
	}
	strict := base64.StdEncoding.Strict()
	var err error
	if p.payload, err = strict.DecodeString(p.envelope.Payload); err != nil {
		return parsed{}, fmt.Errorf("payload: %w", err)
	}
	if p.signature, err = strict.DecodeString(p.envelope.Signatures[0].Sig); err != nil {
		return parsed{}, fmt.Errorf("signature: %w", err)
	}
	if err := json.Unmarshal(p.payload, &p.statement); err != nil {
		return parsed{}, fmt.Errorf("payload: %w", err)
	}
	return p, nil
}

// entry decodes the record.
func (p parsed) entry(line []byte) (Entry, error) {
	pr := p.statement.Predicate
	e := Entry{
		Sequence: pr.Sequence, Segment: pr.Segment, Previous: pr.Previous, Torn: pr.Torn, Follows: pr.Follows,
		Digest: lineDigest(line), Envelope: bytes.Clone(line),
	}
	if err := json.Unmarshal(pr.Record, &e.Record); err != nil {
		return Entry{}, fmt.Errorf("record: %w", err)
	}
	return e, nil
}

// BreakReason says what does not hold about an entry.
type BreakReason string

// The reasons of a break.
const (
	BreakSyntax     BreakReason = "syntax"      // not a line of ours, or not in its exact form
	BreakForeignKey BreakReason = "foreign_key" // signed by another key
	BreakSignature  BreakReason = "signature"   // the signature is wrong
	BreakStatement  BreakReason = "statement"   // not a receipt of a version we know
	BreakSubject    BreakReason = "subject"     // the subject is not the record
	BreakRecord     BreakReason = "record"      // the record is not valid, or its id was there before
	BreakSequence   BreakReason = "sequence"    // an entry is missing or out of place
	BreakPrevious   BreakReason = "previous"    // it does not name the entry before it
	BreakSegment    BreakReason = "segment"     // a segment is missing, renamed or swapped
	BreakTruncated  BreakReason = "truncated"   // newest entries that are known are missing
	BreakRewritten  BreakReason = "rewritten"   // a known entry was replaced by another
	BreakTorn       BreakReason = "torn"        // cut off in the middle, in a place where no crash can do that
)

// Break is the first place where a chain does not hold. It is an error and wraps ErrReceiptsBroken.
type Break struct {
	Segment  int         `json:"segment"`
	Line     int         `json:"line"`     // from 1
	Sequence uint64      `json:"sequence"` // of the entry expected there
	Reason   BreakReason `json:"reason"`
	Detail   string      `json:"detail,omitempty"`
}

// Error names the place and the reason.
func (b *Break) Error() string {
	text := fmt.Sprintf("%v: entry %d (segment %06d, line %d): %s", ErrReceiptsBroken, b.Sequence, b.Segment, b.Line, b.Reason)
	if b.Detail != "" {
		text += ": " + b.Detail
	}
	return text
}

// Unwrap returns ErrReceiptsBroken.
func (b *Break) Unwrap() error { return ErrReceiptsBroken }

// at is a place in the chain: where the next entry is expected, and what it must name.
type at struct {
	segment, line int
	head          Head // the entry before; zero at the start
}

func (a at) fails(reason BreakReason, format string, args ...any) *Break {
	return &Break{Segment: a.segment, Line: a.line, Sequence: a.head.Sequence + 1, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// linked checks that p stands where it says and names the entry before. Together with one good signature at the end
// that proves every entry up to there, because a digest covers the whole line before.
func (a at) linked(p parsed) *Break {
	pr := p.statement.Predicate
	switch {
	case pr.Segment != a.segment:
		return a.fails(BreakSegment, "it belongs to segment %06d", pr.Segment)
	case pr.Sequence != a.head.Sequence+1:
		return a.fails(BreakSequence, "it is entry %d", pr.Sequence)
	case pr.Previous != a.head.Digest:
		return a.fails(BreakPrevious, "it does not follow the entry before it")
	}
	return nil
}

// signed checks the signature by public.
func (a at) signed(p parsed, public ed25519.PublicKey) *Break {
	switch {
	case p.envelope.PayloadType != payloadType:
		return a.fails(BreakStatement, "payload type %q", p.envelope.PayloadType)
	case p.envelope.Signatures[0].KeyID != Fingerprint(public):
		return a.fails(BreakForeignKey, "signed by %q, expected %q", p.envelope.Signatures[0].KeyID, Fingerprint(public))
	case !ed25519.Verify(public, dsse.PAE(payloadType, p.payload), p.signature):
		return a.fails(BreakSignature, "")
	}
	return nil
}

// meant checks that the signed text is a receipt and its subject is the record it carries.
func (a at) meant(p parsed, line []byte) (Entry, *Break) {
	st := p.statement
	if st.Type != statementType || st.PredicateType != PredicateType {
		return Entry{}, a.fails(BreakStatement, "%q about %q", st.Type, st.PredicateType)
	}
	e, err := p.entry(line)
	if err != nil {
		return Entry{}, a.fails(BreakRecord, "%v", err)
	}
	// Append let only valid records in. What was valid then is not judged by the rules of a later version.
	if e.Record.ID == "" {
		return Entry{}, a.fails(BreakRecord, "it has no id")
	}
	want := subjectDigest(st.Predicate.Record)
	if len(st.Subject) != 1 || st.Subject[0].Name != subjectName(e.Record.ID) ||
		len(st.Subject[0].Digest) != 1 || st.Subject[0].Digest["sha256"] != want["sha256"] {
		return Entry{}, a.fails(BreakSubject, "")
	}
	return e, nil
}

// exact checks that line is byte for byte what the envelope marshals to.
func (a at) exact(p parsed, line []byte) *Break {
	again, err := json.Marshal(p.envelope)
	if err != nil || !bytes.Equal(again, line) {
		return a.fails(BreakSyntax, "it is not in its exact form")
	}
	return nil
}
