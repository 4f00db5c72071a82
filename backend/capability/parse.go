package capability

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

func parse[T ~string](what, text string, known ...T) (T, error) {
	if v := T(text); slices.Contains(known, v) {
		return v, nil
	}
	return "", invalid(what, text, "unknown word")
}

// ParseProcessClass reads a process class.
func ParseProcessClass(text string) (ProcessClass, error) {
	return parse("class", text, ClassShell, ClassAgent, ClassGate, ClassMCP, ClassIntegration)
}

// ParseSandboxPolicy reads a sandbox policy.
func ParseSandboxPolicy(text string) (SandboxPolicy, error) {
	return parse("policy", text, ReadOnly, WorkspaceWrite, DangerFullAccess)
}

// ParseNetwork reads a network setting.
func ParseNetwork(text string) (Network, error) {
	return parse("network", text, NetworkOff, NetworkProxied, NetworkOpen)
}

// ParseEnforcement reads an enforcement state.
func ParseEnforcement(text string) (Enforcement, error) {
	return parse("enforcement", text, Enforced, Advisory, Unavailable)
}

// ParseRecordKind reads the kind of a record.
func ParseRecordKind(text string) (RecordKind, error) {
	return parse("kind", text, RecordStart, RecordEnd, RecordWrite, RecordDecision)
}

// ParseProvenance reads the provenance of a denial. Process output is none.
func ParseProvenance(text string) (Provenance, error) {
	return parse("provenance", text, ProvenanceKernel, ProvenanceBackend)
}

// String returns the word that is stored and sent.
func (c ProcessClass) String() string { return string(c) }

// String returns the word that is stored and sent.
func (p SandboxPolicy) String() string { return string(p) }

// String returns the word that is stored and sent.
func (n Network) String() string { return string(n) }

// String returns the word that is stored and sent.
func (e Enforcement) String() string { return string(e) }

// String returns the word that is stored and sent.
func (k RecordKind) String() string { return string(k) }

// String returns the word that is stored and sent.
func (p Provenance) String() string { return string(p) }

// ParseSnapshot reads a Snapshot from JSON. An unknown field and anything after the value are errors. It validates
// nothing else: FromSnapshot does.
func ParseSnapshot(data []byte) (Snapshot, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var s Snapshot
	if err := d.Decode(&s); err != nil {
		return Snapshot{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Snapshot{}, errors.New("snapshot: text after the value")
	}
	return s, nil
}
