package approval

import "time"

// Limits. What exceeds them is refused with a code of its own.
const (
	MaxComment       = 4 << 10 // bytes of an owner's comment
	MaxArgs          = 4 << 20 // bytes of a call's arguments
	MaxDetail        = 8 << 20 // bytes of a question's prompt and detail
	MaxOffers        = 16      // offers of one question
	MaxName          = 1 << 10 // bytes of a session, turn, tool call or command id
	MaxOpenQuestions = 200     // open questions of one session
	MaxRepeats       = 4096    // equal calls of one turn, for agents that give no tool call id
)

// Times.
const (
	DefaultWait      = 300 * time.Second      // expiry of a question when the client says nothing else
	ShownDelay       = 500 * time.Millisecond // from the first showing of a card to the first answer it takes
	DefaultAllowTTL  = 60 * time.Second       // an allow that is not redeemed within it expires
	ClockTolerance   = 2 * time.Second        // how far a decision may seem to lie in the future
	CommandRetention = 7 * 24 * time.Hour     // how long the result of an answer can be asked for again by its command id
)

// Options are the settings of a Registry.
type Options struct {
	AllowTTL time.Duration // 0: DefaultAllowTTL
}

// Registry keeps calls and questions in a Store. It is safe for concurrent use; the store's transactions order what
// happens. All truth is in the store: a new Registry on the same store goes on where the last one was.
type Registry struct {
	store   Store
	clock   Clock
	ttl     time.Duration
	ids     idSource
	clients clients
}

// New returns a Registry on store. Call Restore once before anything else.
func New(store Store, clock Clock, opts Options) *Registry {
	if opts.AllowTTL <= 0 {
		opts.AllowTTL = DefaultAllowTTL
	}
	return &Registry{store: store, clock: clock, ttl: opts.AllowTTL, clients: clients{known: make(map[string]client)}}
}

// now is the wall-clock time as it will read after a round through the store: in UTC, without a monotonic part.
func (r *Registry) now() time.Time { return r.clock.Now().UTC().Round(0) }

// update runs fn in one transaction and returns the events it recorded, if and only if it was committed. A store may
// run fn more than once, so fn must set its results anew each time.
func (r *Registry) update(fn func(*txn) error) ([]Event, error) { return r.updateAt(r.now, fn) }

// updateAt is update at a given moment. now is asked inside the transaction, after the wait for the store's writer.
func (r *Registry) updateAt(now func() time.Time, fn func(*txn) error) ([]Event, error) {
	var events []Event
	err := r.store.Update(func(tx Tx) error {
		t := &txn{Tx: tx, now: now(), ttl: r.ttl}
		if err := fn(t); err != nil {
			return err
		}
		events = t.events
		return nil
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}
