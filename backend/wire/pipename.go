package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// pipePrefix begins the name of every named pipe (CreateNamedPipe).
const pipePrefix = `\\.\pipe\`

// PipeName returns the named pipe that stands for a socket path on Windows. A name that is a pipe's already stays.
// Windows compares paths without case, so the name is made from the path in lower case.
func PipeName(socket string) string {
	if strings.HasPrefix(strings.ToLower(socket), pipePrefix) {
		return socket
	}
	sum := sha256.Sum256([]byte(strings.ToLower(strings.ReplaceAll(socket, "/", `\`))))
	return pipePrefix + "countersign-" + hex.EncodeToString(sum[:16])
}
