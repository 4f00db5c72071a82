package approval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// Key is the admission key of a call: session, turn and the agent's tool call id. For an agent that gives no id it
// is session, turn, digest and an ordinal, which counts equal calls of one turn from 0. The digest is left out of
// the first form on purpose: the same id with another digest must be noticed, and refused.
func Key(session, execution, toolCall, digest string, ordinal int) string {
	if toolCall != "" {
		return "id:" + fingerprint(session, execution, toolCall)
	}
	return "digest:" + fingerprint(session, execution, digest, strconv.Itoa(ordinal))
}

// Recognition is the digest by which a call is known again when its client comes back: of what the client sent, where
// that was noted (Proposed), and the binding digest otherwise. The two differ because a binding also covers files,
// which may change while the call waits: the client still finds its call, and what was admitted still binds.
func (c *Call) Recognition() string {
	if c.Proposed != "" {
		return c.Proposed
	}
	return c.Digest
}

// fingerprint hashes parts with their lengths, so that no two different lists give the same text. Agents' ids may
// be longer than a store's keys, and may hold any byte.
func fingerprint(parts ...string) string {
	h := sha256.New()
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// indexKey joins the parts of an index key.
func indexKey(parts ...string) string { return strings.Join(parts, separator) }

// indexPrefix is the beginning of every index key that starts with parts.
func indexPrefix(parts ...string) string { return strings.Join(parts, separator) + separator }

// lastPart is the part after the last separator: in every index of this package the id.
func lastPart(key string) string { return key[strings.LastIndex(key, separator)+1:] }
