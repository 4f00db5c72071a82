package desk

import (
	"context"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/state"
	"countersign/backend/wire"
)

// record begins a receipt record about a call; only what the core itself saw goes into it.
func (d *Desk) record(c approval.Call, kind capability.RecordKind) capability.Record {
	return capability.Record{
		ID: newID(), Kind: kind, Time: d.clock.Now(), Request: c.ID, Call: c.ID, Session: c.Session,
		Principal: c.Principal.ID, Tool: c.Tool, ArgvDigest: capability.Digest(c.Args), Cwd: c.Cwd, CwdIdentity: c.CwdIdentity,
	}
}

// recordRefusal keeps a signed record of a call that was stopped, with what stopped it. The refusal stands whether or not
// it can be recorded.
func (d *Desk) recordRefusal(c approval.Call) {
	if c.State != approval.CallFinished {
		return
	}
	switch c.Outcome {
	case approval.OutcomeDenied, approval.OutcomeRefused, approval.OutcomeExpired:
	default:
		return
	}
	r := d.record(c, capability.RecordDecision)
	r.Extra = map[string]string{"outcome": string(c.Outcome), "reason": string(c.Verdict.Reason)}
	if c.Verdict.Rule != "" {
		r.Extra["rule"] = c.Verdict.Rule
	}
	if _, err := d.receipts.Append(r); err != nil {
		d.log.Error("record refusal", "call", c.ID, "error", err)
	}
}

// maxSubject is how much of a command a listing of receipts shows, in bytes.
const maxSubject = 200

// subject says what a call was about, from the store. It is shown beside a record and is no part of what is signed.
func (d *Desk) subject(call string) string {
	c, err := d.calls.Get(call)
	if err != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "path", "url"} {
		if text, ok := argument(c.Args, name); ok {
			return shortened(text, maxSubject)
		}
	}
	return ""
}

func (d *Desk) listReceipts(_ context.Context, _ *exchange, in wire.ListReceipts) (wire.Receipts, error) {
	limit := in.Limit
	if limit <= 0 || limit > maxListed {
		limit = maxListed
	}
	out := wire.Receipts{Receipts: []wire.Receipt{}}
	list, err := d.receipts.List(state.Filter{Session: in.Session, Call: in.Call, Limit: limit})
	for _, e := range list {
		out.Receipts = append(out.Receipts, wire.Receipt{Record: e.Record, Digest: e.Digest, Subject: d.subject(e.Record.Call)})
	}
	return out, err
}

func (d *Desk) getReceipt(_ context.Context, _ *exchange, in wire.GetReceipt) (wire.Receipt, error) {
	e, err := d.receipts.Get(in.ID)
	return wire.Receipt{Record: e.Record, Digest: e.Digest, Envelope: e.Envelope, Subject: d.subject(e.Record.Call)}, err
}

func (d *Desk) verifyReceipts(context.Context, *exchange, wire.Empty) (wire.Verification, error) {
	return d.Verify()
}

// wireVerification is a verification as it is shown.
func wireVerification(v state.Verification) wire.Verification {
	out := wire.Verification{OK: v.Holds(), Records: int(v.Entries), Open: len(v.Unended)}
	switch {
	case v.Break != nil:
		out.Problem, out.Record = string(v.Break.Reason), v.Break.Error()
	case !out.OK:
		out.Problem = v.String()
	}
	return out
}
