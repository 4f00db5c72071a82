package winlock

import (
	"crypto/rand"
	"encoding/hex"
)

// Temporary files are named tempPrefix + 32 hex digits + tempSuffix.
const (
	tempPrefix = ".countersign-"
	tempSuffix = ".tmp"
)

func tempName() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}
