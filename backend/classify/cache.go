package classify

import (
	"crypto/sha256"
	"sync"
	"time"

	"countersign/backend/policy"
)

// Limits of the cache.
const (
	maxKept  = 1000
	keptTime = 10 * time.Minute
)

// cacheKey is the hash of what is asked, under which digest and policy.
type cacheKey [sha256.Size]byte

// kept is one answer that came.
type kept struct {
	answer policy.Classification
	until  time.Time
}

// flight is a request that is on its way. Whoever asks the same waits for it.
type flight struct {
	done   chan struct{}
	answer policy.Classification // set before done is closed
	gone   bool                  // whoever sent it went away: the answer says nothing to others
}

// cache keeps answers and the requests that are on their way. The mutex guards everything in it.
type cache struct {
	mu      sync.Mutex
	kept    map[cacheKey]kept
	order   []cacheKey // of kept, the oldest first; all are kept equally long
	flights map[cacheKey]*flight
}

// keyOf returns the key of a call, false when what is said about it must not be kept. What is sent is part of it, so
// that a digest that names too little can mix up nothing that the model could tell apart.
func keyOf(c Call, sent string) (cacheKey, bool) {
	if c.RunsWorkspaceFile || c.Digest == "" || c.PolicyVersion == "" {
		return cacheKey{}, false
	}
	h := sha256.New()
	for _, text := range []string{c.Digest, c.PolicyVersion, sent} {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return cacheKey(h.Sum(nil)), true
}

// begin returns the kept answer, or the flight to wait for, or a new flight that the caller must land.
func (c *cache) begin(key cacheKey, now time.Time) (answer *policy.Classification, f *flight, own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(now, maxKept)
	if k, ok := c.kept[key]; ok {
		return &k.answer, nil, false
	}
	if f := c.flights[key]; f != nil {
		return nil, f, false
	}
	f = &flight{done: make(chan struct{})}
	if c.flights == nil {
		c.flights = map[cacheKey]*flight{}
	}
	c.flights[key] = f
	return nil, f, true
}

// land ends a flight with its answer, which is kept when it is one.
func (c *cache) land(key cacheKey, f *flight, answer policy.Classification, gone bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.answer, f.gone = answer, gone
	delete(c.flights, key)
	if answer.Err == "" {
		c.dropLocked(now, maxKept-1)
		if c.kept == nil {
			c.kept = map[cacheKey]kept{}
		}
		if _, ok := c.kept[key]; !ok {
			c.order = append(c.order, key)
		}
		c.kept[key] = kept{answer, now.Add(keptTime)}
	}
	close(f.done)
}

// dropLocked forgets what is over, and the oldest until at most most are left.
func (c *cache) dropLocked(now time.Time, most int) {
	for len(c.order) > 0 && (len(c.order) > most || !now.Before(c.kept[c.order[0]].until)) {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}
