package capability

import (
	"fmt"
	"strings"
)

// MaxDenials bounds the denials of one record; a broker counts the rest in Extra.
const MaxDenials = 1000

// Validate reports whether the record may be signed: whether it says enough for its kind, and nothing that its kind must
// not say. The error is ErrRecord and names the field.
func (r Record) Validate() error {
	if err := r.validateCommon(); err != nil {
		return err
	}
	switch r.Kind {
	case RecordStart:
		return r.validateStart()
	case RecordEnd:
		return r.validateEnd()
	case RecordWrite:
		return r.validateWrite()
	}
	return r.validateDecision()
}

func wrong(field, why string) error { return fmt.Errorf("%w: %s: %s", ErrRecord, field, why) }

func (r Record) validateCommon() error {
	if _, err := ParseRecordKind(string(r.Kind)); err != nil {
		return wrong("kind", "unknown")
	}
	if !isID(r.ID) {
		return wrong("id", "missing or malformed")
	}
	if r.Time.IsZero() {
		return wrong("time", "missing")
	}
	if r.Call == "" && r.Request == "" {
		return wrong("call", "neither call nor request")
	}
	if r.Class != "" {
		if _, err := ParseProcessClass(string(r.Class)); err != nil {
			return wrong("class", "unknown")
		}
	}
	if r.ArgvDigest != "" && !IsDigest(r.ArgvDigest) {
		return wrong("argv_digest", "malformed")
	}
	if err := checkNames(r.Environment); err != nil {
		return wrong("environment", err.Error())
	}
	if len(r.Denials) > MaxDenials {
		return wrong("denials", "too many")
	}
	for i, d := range r.Denials {
		if err := d.Validate(); err != nil {
			return fmt.Errorf("denial %d: %w", i, err)
		}
	}
	if r.Kind != RecordWrite && r.Write != nil {
		return wrong("write", "only a write record has it")
	}
	if r.Kind != RecordEnd && (r.Start != "" || r.ExitStatus != nil || r.Signal != "" || !r.EndedAt.IsZero()) {
		return wrong("end", "only an end record has an end")
	}
	return nil
}

// validateStart holds "Enforced only on evidence": the started process reported its boundary.
func (r Record) validateStart() error {
	if r.Class == "" {
		return wrong("class", "missing")
	}
	if !IsDigest(r.ArgvDigest) {
		return wrong("argv_digest", "missing")
	}
	if r.Effective == nil {
		return wrong("effective", "missing")
	}
	if _, err := FromSnapshot(*r.Effective); err != nil {
		return wrong("effective", err.Error())
	}
	switch r.Enforcement {
	case Enforced:
		if r.Backend == "" {
			return wrong("backend", "missing although Enforced")
		}
		if r.Class == ClassIntegration || r.Effective.Policy == DangerFullAccess {
			return wrong("enforcement", "Enforced without a boundary")
		}
		for _, layer := range r.Layers {
			if layer.OK {
				return nil
			}
		}
		return wrong("layers", "no evidence although Enforced")
	case Advisory:
		if r.Effective.Policy != DangerFullAccess { // an integration cannot have another policy
			return wrong("enforcement", "Advisory is only what the owner runs on the host")
		}
		return nil
	case Unavailable: // started all the same by the owner's explicit override
		return nil
	}
	return wrong("enforcement", "missing or unknown")
}

func (r Record) validateEnd() error {
	if !isID(r.Start) {
		return wrong("start", "missing")
	}
	if r.EndedAt.IsZero() {
		return wrong("ended_at", "missing")
	}
	if !r.StartedAt.IsZero() && r.EndedAt.Before(r.StartedAt) {
		return wrong("ended_at", "before the start")
	}
	if r.ExitStatus != nil && r.Signal != "" {
		return wrong("signal", "with an exit status")
	}
	if r.ExitStatus == nil && r.Signal == "" && r.Cause == "" {
		return wrong("exit_status", "neither status, signal nor cause")
	}
	if r.UserCPU < 0 || r.SystemCPU < 0 || r.MaxRSS < 0 {
		return wrong("usage", "negative")
	}
	if r.Enforcement != "" {
		if _, err := ParseEnforcement(string(r.Enforcement)); err != nil {
			return wrong("enforcement", "unknown")
		}
	}
	return nil
}

func (r Record) validateWrite() error {
	w := r.Write
	switch {
	case w == nil:
		return wrong("write", "missing")
	case w.Path == "":
		return wrong("write.path", "missing")
	case !IsDigest(w.NewDigest):
		return wrong("write.new_digest", "missing or malformed")
	case w.OldDigest != "" && !IsDigest(w.OldDigest):
		return wrong("write.old_digest", "malformed")
	}
	switch w.Published {
	case "exchange", "link", "rename", "in_place":
		return nil
	}
	return wrong("write.published", "unknown")
}

// validateDecision keeps every word about a boundary off the record of a call that the agent runs itself.
func (r Record) validateDecision() error {
	if r.Enforcement != "" || len(r.Layers) > 0 || r.Effective != nil || r.Backend != "" || len(r.Denials) > 0 {
		return wrong("enforcement", "nothing is said about the boundary of a released call")
	}
	return nil
}

// Validate reports whether the denial may be recorded: a kernel's or a backend's, never taken from process output.
func (d Denial) Validate() error {
	if _, err := ParseProvenance(string(d.Provenance)); err != nil {
		return wrong("provenance", "unknown")
	}
	if d.Operation == "" {
		return wrong("operation", "missing")
	}
	if d.Time.IsZero() {
		return wrong("time", "missing")
	}
	return nil
}

// isID accepts a UUID and any other short name of letters, digits, dots, dashes and underscores.
func isID(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return text != "" && len(text) <= 128 && strings.Trim(text, letters) == ""
}
