package approval

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"countersign/backend/policy"
)

// Proposal is a call that policy has judged, to be admitted. Call carries the verdict; the fields of its life are set
// here. ID, Key and CreatedAt are set here too where they are empty. Of the question, everything that the call or the
// verdict says is taken from them.
type Proposal struct {
	Call     Call
	Question *Question      // what to ask; nil unless the verdict is Ask
	Also     func(Tx) error // written in the same transaction when the call is new; may be nil; its error undoes all
}

// Admission is the call as it stands. Existing says that it was admitted before and the proposal changed nothing: a
// client came back to its call, which may have been answered or may even have ended meanwhile.
type Admission struct {
	Call     Call
	Question *Question // the call's question, open or closed; nil when it never had one
	Existing bool
	Events   []Event
}

// Admit stores a proposed call and takes it to what its verdict says: allowed, waiting with its question, or finished
// as denied. Any verdict but Allow and Ask denies. Proposing the same key with the same Recognition again, by the same
// principal, gives the stored call; with anything else it is an ErrMismatch. Without a tool call id and without a
// key, the ordinal is found here: an equal call whose client was lost (Lost) is taken over, otherwise it is a new one.
func (r *Registry) Admit(p Proposal) (Admission, error) {
	if err := r.prepare(&p); err != nil {
		return Admission{}, err
	}
	var out Admission
	undo := func() {}
	events, err := r.update(func(t *txn) error {
		undo()
		undo = func() {}
		out = Admission{Call: p.Call}
		existing, err := r.find(t, &out.Call)
		if err != nil {
			return err
		}
		if existing != nil {
			out, err = r.reattach(t, existing, &p.Call)
		} else {
			err = r.admitNew(t, p, &out)
		}
		if err != nil {
			return err
		}
		if p.Call.ToolCall == "" {
			undo = r.clients.attach(out.Call.ID, out.Call.Session)
		}
		return nil
	})
	if err != nil {
		undo()
		return Admission{}, fmt.Errorf("admit: %w", err)
	}
	out.Events = events
	return out, nil
}

// prepare checks a proposal and fills in what does not depend on the store.
func (r *Registry) prepare(p *Proposal) error {
	c, now := &p.Call, r.now()
	c.State, c.Outcome, c.Question, c.Comment, c.Answerer, c.StopTurn = CallProposed, "", "", "", "", false
	c.Exit, c.Signal, c.Directory, c.Receipts, c.Failure = nil, "", "", nil, ""
	c.Deadline, c.DecidedAt, c.StartedAt, c.EndedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = now
	}
	if c.ID == "" {
		c.ID = r.ids.next(now)
	}
	if err := checkCall(c); err != nil {
		return err
	}
	switch c.Verdict.Outcome {
	case policy.Allow, policy.Ask:
		if c.Principal.ID == "" || c.Principal.Kind == "" {
			return ErrIdentityMissing
		}
	}
	if (c.Verdict.Outcome == policy.Ask) != (p.Question != nil) {
		return fmt.Errorf("%w: a question goes with the verdict ask, and only with it", ErrInvalidQuestion)
	}
	if p.Question == nil {
		return nil
	}
	q := *p.Question // the proposal's own question is left alone
	p.Question = &q
	q.Version, q.State = 1, QuestionOpen
	q.Session, q.Execution, q.Call, q.Agent, q.Tool = c.Session, c.Execution, c.ID, c.Agent, c.Tool
	q.Reason, q.CreatedAt = c.Verdict.Reason, now
	q.Outcome, q.Offer, q.Comment, q.Answerer, q.Through = "", 0, "", "", ""
	q.ShownAt, q.ClosedAt = time.Time{}, time.Time{}
	if q.ID == "" {
		q.ID = r.ids.next(now)
	}
	return checkQuestion(&q)
}

// checkCall refuses what cannot be kept or compared, and makes absent JSON what it will read as.
func checkCall(c *Call) error {
	for _, field := range []struct {
		name, value string
		needed      bool
	}{
		{"id", c.ID, true},
		{"key", c.Key, false},
		{"session", c.Session, true},
		{"execution", c.Execution, false},
		{"tool_call", c.ToolCall, false},
		{"digest", c.Digest, true},
		{"proposed", c.Proposed, false},
	} {
		switch {
		case field.needed && field.value == "":
			return fmt.Errorf("%w: %s is missing", ErrInvalidCall, field.name)
		case len(field.value) > MaxName:
			return fmt.Errorf("%w: %s is longer than %d bytes", ErrInvalidCall, field.name, MaxName)
		case strings.Contains(field.value, separator):
			return fmt.Errorf("%w: %s holds a NUL byte", ErrInvalidCall, field.name)
		}
	}
	if len(c.Args) > MaxArgs {
		return ErrArgsTooLarge
	}
	if !normalJSON(&c.Args) {
		return fmt.Errorf("%w: args are not JSON", ErrInvalidCall)
	}
	if !normalJSON(&c.Preconditions) {
		return fmt.Errorf("%w: preconditions are not JSON", ErrInvalidCall)
	}
	return nil
}

func checkQuestion(q *Question) error {
	switch {
	case q.Kind != KindApproval:
		return fmt.Errorf("%w: kind %q", ErrInvalidQuestion, q.Kind)
	case len(q.ID) > MaxName || strings.Contains(q.ID, separator):
		return fmt.Errorf("%w: id", ErrInvalidQuestion)
	case len(q.Prompt)+len(q.Detail) > MaxDetail:
		return fmt.Errorf("%w: prompt and detail are longer than %d bytes", ErrInvalidQuestion, MaxDetail)
	case !normalJSON(&q.Detail):
		return fmt.Errorf("%w: detail is not JSON", ErrInvalidQuestion)
	case !q.HoldUntil.IsZero() && (q.ExpiresAt.IsZero() || q.ExpiresAt.After(q.HoldUntil)):
		return fmt.Errorf("%w: it would stay open when its client is gone", ErrInvalidQuestion)
	case len(q.Offers) == 0 || len(q.Offers) > MaxOffers:
		return fmt.Errorf("%w: %d offers", ErrInvalidQuestion, len(q.Offers))
	}
	seen := make(map[int]bool)
	for _, offer := range q.Offers {
		switch offer.Scope {
		case ScopeOnce:
			if len(offer.Rules) != 0 {
				return fmt.Errorf("%w: offer %d is for once and brings rules", ErrInvalidQuestion, offer.Number)
			}
		case ScopeSession, ScopeProject, ScopeGlobal:
			if len(offer.Rules) == 0 {
				return fmt.Errorf("%w: offer %d brings no rule", ErrInvalidQuestion, offer.Number)
			}
		default:
			return fmt.Errorf("%w: offer %d has scope %q", ErrInvalidQuestion, offer.Number, offer.Scope)
		}
		if offer.Number < 1 || seen[offer.Number] {
			return fmt.Errorf("%w: offer number %d", ErrInvalidQuestion, offer.Number)
		}
		seen[offer.Number] = true
	}
	return nil
}

// normalJSON reports whether raw is JSON; absent is null.
func normalJSON(raw *json.RawMessage) bool {
	if len(*raw) == 0 {
		*raw = json.RawMessage("null")
	}
	return json.Valid(*raw)
}

// find returns the stored call that c is a repetition of, or nil and c with the key it is to be stored under.
func (r *Registry) find(t *txn, c *Call) (*Call, error) {
	if c.Key != "" || c.ToolCall != "" {
		if c.Key == "" {
			c.Key = Key(c.Session, c.Execution, c.ToolCall, c.Recognition(), 0)
		}
		return t.callByKey(c.Key)
	}
	for ordinal := range MaxRepeats {
		c.Key = Key(c.Session, c.Execution, "", c.Recognition(), ordinal)
		existing, err := t.callByKey(c.Key)
		if existing == nil || err != nil {
			return nil, err
		}
		if r.clients.free(existing.ID, existing.State == CallWaiting || existing.State == CallAllowed) {
			return existing, nil
		}
	}
	return nil, ErrTooManyRepeats
}

// callByKey returns the call stored under an admission key, or nil.
func (t *txn) callByKey(key string) (*Call, error) {
	var id string
	ok, err := t.Get(BucketCallKeys, key, &id)
	if err != nil || !ok {
		return nil, err
	}
	c, err := t.call(id)
	if err != nil {
		return nil, fmt.Errorf("key of call %s: %w", id, damaged(err))
	}
	return c, nil
}

// reattach gives the stored call to a client that proposes it again, as it stands by the clock.
func (r *Registry) reattach(t *txn, stored, proposed *Call) (Admission, error) {
	if stored.Recognition() != proposed.Recognition() || stored.Session != proposed.Session ||
		stored.Principal.ID != proposed.Principal.ID || stored.Principal.Kind != proposed.Principal.Kind {
		return Admission{}, fmt.Errorf("call %s: %w", stored.ID, ErrMismatch)
	}
	if t.due(stored) {
		if err := t.withdraw(stored, EventExpire); err != nil {
			return Admission{}, err
		}
	}
	out := Admission{Call: *stored, Existing: true}
	if stored.Question != "" {
		q, err := t.question(stored.Question)
		if err != nil {
			return Admission{}, damaged(err)
		}
		out.Question = q
	}
	return out, nil
}

// admitNew stores a call that was not there.
func (r *Registry) admitNew(t *txn, p Proposal, out *Admission) error {
	c := &out.Call
	if taken, err := t.Get(BucketCalls, c.ID, new(json.RawMessage)); taken || err != nil {
		return orElse(err, fmt.Errorf("%w: id %s is taken", ErrInvalidCall, c.ID))
	}
	if err := t.Put(BucketCallKeys, c.Key, c.ID); err != nil {
		return err
	}
	if err := t.Put(BucketSessionCalls, indexKey(c.Session, newestFirstKey(c.CreatedAt), c.ID), nil); err != nil {
		return err
	}
	var err error
	switch c.Verdict.Outcome {
	case policy.Allow:
		err = t.step(c, EventAllow)
	case policy.Ask:
		err = t.ask(c, p.Question, out)
	default:
		err = t.step(c, EventDeny)
	}
	if err != nil || p.Also == nil {
		return err
	}
	return p.Also(t.Tx)
}

// ask stores the question and lets the call wait for it.
func (t *txn) ask(c *Call, question *Question, out *Admission) error {
	open := 0
	err := t.Each(BucketOpenQuestions, indexPrefix(c.Session), func(string, json.RawMessage) error {
		if open++; open >= MaxOpenQuestions {
			return ErrTooMany
		}
		return nil
	})
	if err != nil {
		return err
	}
	q := *question
	if taken, err := t.Get(BucketQuestions, q.ID, new(json.RawMessage)); taken || err != nil {
		return orElse(err, fmt.Errorf("%w: id %s is taken", ErrInvalidQuestion, q.ID))
	}
	c.Question, c.Deadline = q.ID, q.ExpiresAt
	if err := t.step(c, EventAsk); err != nil {
		return err
	}
	if err := t.Put(BucketQuestions, q.ID, q); err != nil {
		return err
	}
	if err := t.Put(BucketOpenQuestions, indexKey(q.Session, q.ID), nil); err != nil {
		return err
	}
	out.Question = &q
	committed := q
	t.events = append(t.events, Event{Frame: FrameAsked, Question: &committed})
	return nil
}
