package approval

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
)

// idSource makes UUIDs of version 7 (RFC 9562, section 5.7) that grow within one process: the twelve bits after the
// version count the ids of one millisecond, and a clock that is set back does not take the ids with it.
type idSource struct {
	mu    sync.Mutex // guards last and count
	last  uint64     // milliseconds
	count uint64
}

func (s *idSource) next(now time.Time) string {
	ms, count := s.tick(uint64(max(now.UnixMilli(), 0)))
	var b [16]byte
	_, _ = rand.Read(b[8:]) // never fails: the runtime stops the process first (crypto/rand)
	binary.BigEndian.PutUint64(b[:8], ms<<16|0x7000|count)
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (s *idSource) tick(ms uint64) (uint64, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ms > s.last:
		s.last, s.count = ms, 0
	case s.count < 0xfff:
		s.count++
	default:
		s.last, s.count = s.last+1, 0
	}
	return s.last & (1<<48 - 1), s.count
}
