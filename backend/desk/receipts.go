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

func (d *Desk) listReceipts(_ context.Context, _ *exchange, in wire.ListReceipts) (wire.Receipts, error) {
	limit := in.Limit
	if limit <= 0 || limit > maxListed {
		limit = maxListed
	}
	out := wire.Receipts{Receipts: []wire.Receipt{}}
	list, err := d.receipts.List(state.Filter{Session: in.Session, Call: in.Call, Limit: limit})
	for _, e := range list {
		out.Receipts = append(out.Receipts, wire.Receipt{Record: e.Record, Digest: e.Digest})
	}
	return out, err
}

func (d *Desk) getReceipt(_ context.Context, _ *exchange, in wire.GetReceipt) (wire.Receipt, error) {
	e, err := d.receipts.Get(in.ID)
	return wire.Receipt{Record: e.Record, Digest: e.Digest, Envelope: e.Envelope}, err
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
