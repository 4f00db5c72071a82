package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"countersign/backend/policy"
)

// ReplyCommand allows what a question asks, as far as one of its offers reaches.
type ReplyCommand struct {
	CommandID string
	Question  string
	Version   int // of the question as it was shown
	Offer     int // number of the offer
	Comment   string
	Answerer  policy.Authority
}

// RejectCommand denies what a question asks. StopTurn also denies the other open approvals of its session and tells
// the agent to end its turn.
type RejectCommand struct {
	CommandID string
	Question  string
	Version   int
	Comment   string
	StopTurn  bool
	Answerer  policy.Authority
}

// AnswerResult is what an accepted answer did. The same command gets the same result again.
type AnswerResult struct {
	Applied bool   `json:"applied"`
	Outcome string `json:"outcome"` // "allow" or "deny"
	Version int    `json:"version"` // of the question, now closed
}

// The outcomes of an answered question. Questions that were closed without an answer carry a CallOutcome.
const (
	AnswerAllow = "allow"
	AnswerDeny  = "deny"
)

// Reply applies an allowing answer exactly once. save is called inside the transaction with the question and the
// offer as they are stored; it saves the offer's rules. If it fails nothing is applied (*SaveError). An offer that
// brings rules needs a save. Events are to be published also when an error is returned: a late answer closes what has
// expired.
func (r *Registry) Reply(cmd ReplyCommand, save func(Tx, Question, Offer) error) (AnswerResult, []Event, error) {
	a := answer{
		id: cmd.CommandID, question: cmd.Question, version: cmd.Version, comment: cmd.Comment, by: cmd.Answerer,
		digest: fingerprint("reply", cmd.Question, strconv.Itoa(cmd.Version), strconv.Itoa(cmd.Offer), cmd.Comment,
			cmd.Answerer.ID),
		allows: true,
	}
	return r.answer(a, func(t *txn, q *Question, c *Call) error {
		offer, ok := offered(q, cmd.Offer)
		if !ok {
			return ErrInvalidOffer
		}
		if save != nil {
			if err := save(t.Tx, *q, offer); err != nil {
				return &SaveError{Cause: err}
			}
		} else if len(offer.Rules) != 0 {
			return ErrNotSaved
		}
		q.Offer = offer.Number
		return t.settle(q, c, EventAnswerAllow, a)
	})
}

// Reject applies a denying answer exactly once, with the same rules as Reply.
func (r *Registry) Reject(cmd RejectCommand) (AnswerResult, []Event, error) {
	a := answer{
		id: cmd.CommandID, question: cmd.Question, version: cmd.Version, comment: cmd.Comment, by: cmd.Answerer,
		digest: fingerprint("reject", cmd.Question, strconv.Itoa(cmd.Version), strconv.FormatBool(cmd.StopTurn),
			cmd.Comment, cmd.Answerer.ID),
	}
	return r.answer(a, func(t *txn, q *Question, c *Call) error {
		c.StopTurn = cmd.StopTurn
		if err := t.settle(q, c, EventAnswerDeny, a); err != nil || !cmd.StopTurn {
			return err
		}
		return t.stopTurn(q, a)
	})
}

// answer is what both commands have in common.
type answer struct {
	id, question, comment, digest string
	version                       int
	by                            policy.Authority
	allows                        bool
}

// stored is the record of an applied command.
type stored struct {
	Digest string       `json:"digest"`
	Result AnswerResult `json:"result"`
	At     time.Time    `json:"at"`
}

func (r *Registry) answer(a answer, apply func(*txn, *Question, *Call) error) (AnswerResult, []Event, error) {
	if err := a.check(); err != nil {
		return AnswerResult{}, nil, err
	}
	var result AnswerResult
	var late error // committed, and yet refused: the question had expired
	events, err := r.update(func(t *txn) error {
		result, late = AnswerResult{}, nil
		var before stored
		switch ok, err := t.Get(BucketCommands, a.id, &before); {
		case err != nil:
			return err
		case ok && before.Digest != a.digest:
			return ErrCommandReused
		case ok:
			result = before.Result
			return nil
		}
		q, c, err := t.known(a.question, a.version)
		if errors.Is(err, errDue) {
			late = ErrExpired
			return t.withdraw(c, EventExpire)
		}
		if err != nil {
			return err
		}
		if err := t.read(q, a.allows); err != nil {
			return err
		}
		if err := apply(t, q, c); err != nil {
			return err
		}
		result = AnswerResult{Applied: true, Outcome: q.Outcome, Version: q.Version}
		if err := t.Put(BucketCommandTimes, indexKey(timeKey(t.now), a.id), nil); err != nil {
			return err
		}
		return t.Put(BucketCommands, a.id, stored{Digest: a.digest, Result: result, At: t.now})
	})
	switch {
	case err != nil:
		return AnswerResult{}, nil, fmt.Errorf("answer: %w", err)
	case late != nil:
		return AnswerResult{}, events, fmt.Errorf("answer: %w", late)
	}
	return result, events, nil
}

// errDue says that a question is open and its time is over: it is to be withdrawn, and whoever asked is too late.
var errDue = errors.New("due")

// known returns an open question, which the caller must know in its present version, and the call that waits for it. With
// errDue the call is there to be withdrawn.
func (t *txn) known(id string, version int) (*Question, *Call, error) {
	q, err := t.question(id)
	if err != nil {
		return nil, nil, err
	}
	if q.State != QuestionOpen {
		return nil, nil, standing(q)
	}
	c, err := t.waitingCall(q)
	switch {
	case err != nil:
		return nil, nil, err
	case t.due(c):
		return q, c, errDue
	case version != q.Version:
		return nil, nil, ErrStaleVersion
	}
	return q, c, nil
}

// read refuses an answer that nobody can have read the card for: a press that was meant for something else must not
// allow. A denial is always safe, so it needs no showing; right after one it is refused too, because then it answers what
// stood there before. A showing that lies in the future means that the clock was set back: it counts as none, and the
// card is to be shown again.
func (t *txn) read(q *Question, allows bool) error {
	since := t.now.Sub(q.ShownAt)
	switch unknown := q.ShownAt.IsZero() || since < 0; {
	case unknown && allows:
		return ErrNotShown
	case unknown, since >= ShownDelay:
		return nil
	}
	return &TooSoonError{Wait: ShownDelay - since}
}

// mayAnswer reports whether an authority may answer. Its kind is looked at too: no list of capabilities makes an agent an
// owner.
func mayAnswer(by policy.Authority) bool {
	return by.Kind == policy.PrincipalOwner && by.Has(policy.CapApprovalAnswer)
}

func (a answer) check() error {
	switch {
	case !mayAnswer(a.by):
		return ErrNotOwner
	case a.id == "" || len(a.id) > MaxName:
		return ErrInvalidCommand
	case len(a.comment) > MaxComment:
		return ErrCommentTooLong
	case a.question == "":
		return ErrUnknownQuestion
	}
	return nil
}

// standing is what an answer to a closed question gets.
func standing(q *Question) error {
	switch q.Outcome {
	case AnswerAllow, AnswerDeny:
		return &AlreadyAnswered{Outcome: q.Outcome, Version: q.Version}
	case string(OutcomeExpired):
		return ErrExpired
	case string(OutcomeOriginGone):
		return ErrOriginGone
	case string(OutcomeAnsweredInAgent):
		return ErrAnsweredInAgent
	}
	return ErrCancelled
}

func offered(q *Question, number int) (Offer, bool) {
	for _, offer := range q.Offers {
		if offer.Number == number {
			return offer, true
		}
	}
	return Offer{}, false
}

// settle closes q with an answer and takes its call on.
func (t *txn) settle(q *Question, c *Call, event EventKind, a answer) error {
	outcome := AnswerDeny
	if event == EventAnswerAllow {
		outcome = AnswerAllow
	}
	q.Comment, q.Answerer = a.comment, a.by.ID
	if err := t.close(q, outcome); err != nil {
		return err
	}
	c.Comment, c.Answerer = a.comment, a.by.ID
	return t.step(c, event)
}

// stopTurn denies the other open approvals of the session of first. They carry the same note, so that whichever call
// the agent looks at says why. What has expired meanwhile is left to expire: nobody denied it.
func (t *txn) stopTurn(first *Question, a answer) error {
	var others []string
	err := t.Each(BucketOpenQuestions, indexPrefix(first.Session), func(key string, _ json.RawMessage) error {
		others = append(others, lastPart(key))
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range others {
		q, err := t.question(id)
		if err != nil {
			return damaged(err)
		}
		if q.Kind != KindApproval {
			continue
		}
		c, err := t.waitingCall(q)
		if err != nil {
			return err
		}
		if t.due(c) {
			continue
		}
		q.Through, c.StopTurn = first.ID, true
		if err := t.settle(q, c, EventAnswerDeny, a); err != nil {
			return err
		}
	}
	return nil
}
