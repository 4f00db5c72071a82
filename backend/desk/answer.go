package desk

import (
	"context"

	"countersign/backend/approval"
	"countersign/backend/wire"
)

// maxListed bounds every listing that crosses the wire.
const maxListed = 500

// reply answers a question with one of its offers. Applied exactly once; the rules of the offer are saved in the same
// transaction.
func (d *Desk) reply(_ context.Context, x *exchange, in wire.QuestionReply) (wire.AnswerResult, error) {
	result, events, err := d.calls.Reply(approval.ReplyCommand{
		CommandID: x.commandID, Question: in.ID, Version: in.Version, Offer: in.Offer, Comment: in.Comment, Answerer: x.authority,
	}, d.saveOffer(x.authority.ID))
	d.publish(events)
	return wire.AnswerResult{Applied: result.Applied, Outcome: result.Outcome, Version: result.Version}, err
}

// reject denies a question, and with StopTurn the session's other open ordinary approvals too.
func (d *Desk) reject(_ context.Context, x *exchange, in wire.QuestionReject) (wire.AnswerResult, error) {
	result, events, err := d.calls.Reject(approval.RejectCommand{
		CommandID: x.commandID, Question: in.ID, Version: in.Version, Comment: in.Comment, StopTurn: in.StopTurn, Answerer: x.authority,
	})
	d.publish(events)
	return wire.AnswerResult{Applied: result.Applied, Outcome: result.Outcome, Version: result.Version}, err
}

// questionShown notes that a card was put in front of the owner, and says from when on an answer to it counts.
func (d *Desk) questionShown(_ context.Context, _ *exchange, in wire.QuestionShown) (wire.ShownResult, error) {
	at, events, err := d.calls.Shown(in.ID, in.Version)
	d.publish(events)
	if err != nil {
		return wire.ShownResult{}, err
	}
	return wire.ShownResult{ShownAt: at, AnswersAt: at.Add(approval.ShownDelay)}, nil
}

// extendQuestion gives the owner more time, as far as the client waits.
func (d *Desk) extendQuestion(_ context.Context, x *exchange, in wire.ExtendQuestion) (wire.Question, error) {
	q, events, err := d.calls.Extend(in.ID, in.Version, x.authority)
	d.publish(events)
	if err != nil {
		return wire.Question{}, err
	}
	return wireQuestion(q), nil
}

func (d *Desk) listQuestions(_ context.Context, _ *exchange, in wire.ListQuestions) (wire.Questions, error) {
	// The seq is read before the list: a change in between is seen twice, never missed.
	epoch, seq := d.frames.Epoch(), d.frames.Seq()
	open, err := d.calls.Pending()
	out := wire.Questions{Questions: []wire.Question{}, Epoch: epoch, Seq: seq}
	size := 0
	for _, q := range open {
		if in.Session != "" && q.Session != in.Session {
			continue
		}
		if in.Brief {
			q.Detail = nil
		}
		// The oldest are shown in full; what does not fit into one message is counted, and shown once these are answered.
		if size += len(q.Detail) + briefBytes; size > maxListedBytes && len(out.Questions) > 0 {
			out.More++
			continue
		}
		out.Questions = append(out.Questions, wireQuestion(q))
	}
	return out, err
}

// maxListedBytes bounds the cards of one listing, briefBytes is what a question without its card may take.
const (
	maxListedBytes = wire.MaxMessage / 2
	briefBytes     = 2 << 10
)

func (d *Desk) getQuestion(_ context.Context, _ *exchange, in wire.GetQuestion) (wire.Question, error) {
	q, err := d.calls.Question(in.ID)
	return wireQuestion(q), err
}

func (d *Desk) listSessions(_ context.Context, _ *exchange, in wire.ListSessions) (wire.Sessions, error) {
	epoch, seq := d.frames.Epoch(), d.frames.Seq()
	out := wire.Sessions{Sessions: []wire.Session{}, Epoch: epoch, Seq: seq}
	for _, s := range d.sessionsNewestFirst() {
		if (in.Ended || s.EndedAt.IsZero()) && len(out.Sessions) < maxListed {
			out.Sessions = append(out.Sessions, d.wireSession(s))
		}
	}
	return out, nil
}

func (d *Desk) listCalls(_ context.Context, _ *exchange, in wire.ListCalls) (wire.Calls, error) {
	limit := in.Limit
	if limit <= 0 || limit > maxListed {
		limit = maxListed
	}
	epoch, seq := d.frames.Epoch(), d.frames.Seq()
	out := wire.Calls{Calls: []wire.Call{}, Epoch: epoch, Seq: seq}
	read := d.calls.Recent
	if in.Session != "" {
		read = func(limit int) ([]approval.Call, error) { return d.calls.Calls(in.Session, limit) }
	}
	calls, err := read(limit)
	size := 0
	for _, c := range calls {
		shown := wireCall(c)
		// The newest are listed, as many as fit into one message.
		if size += len(shown.Args) + briefBytes; size > maxListedBytes {
			break
		}
		out.Calls = append(out.Calls, shown)
	}
	return out, err
}

// setMode changes a session's permission mode by compare-and-set on its version.
func (d *Desk) setMode(_ context.Context, x *exchange, in wire.SetPermissionMode) (wire.PermissionState, error) {
	mode, err := d.choosable(in.Mode)
	if err != nil {
		return wire.PermissionState{}, err
	}
	s, err := d.changeSession(in.Session, func(s *Session) error {
		if s.ModeVersion != in.ExpectedVersion {
			return &wire.Error{Code: wire.CodeConflict, Args: map[string]string{"mode": string(d.mode(*s)), "version": itoa(s.ModeVersion)}}
		}
		s.Mode, s.ModeVersion, s.ModeOwner, s.AutoBlocks = mode, s.ModeVersion+1, x.authority.ID, 0
		return nil
	})
	if err != nil {
		return wire.PermissionState{}, err
	}
	state := d.permissionState(s)
	d.frame(wire.FramePermissionState, state)
	return state, nil
}

func (d *Desk) modeState(_ context.Context, _ *exchange, in wire.GetPermissionState) (wire.PermissionState, error) {
	s, ok := d.session(in.Session)
	if !ok {
		return wire.PermissionState{}, unknownSession(in.Session)
	}
	return d.permissionState(s), nil
}

func (d *Desk) permissionState(s Session) wire.PermissionState {
	return wire.PermissionState{Session: s.ID, Mode: d.mode(s), Version: s.ModeVersion, Owner: s.ModeOwner}
}

func unknownSession(id string) error {
	return &wire.Error{Code: "unknown_session", Args: map[string]string{"session": id}}
}
