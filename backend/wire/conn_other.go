//go:build !unix

package wire

import (
	"net"
	"os"
)

// readWithFiles reads once. No descriptors travel on this system.
func readWithFiles(raw net.Conn, p []byte) (int, []*os.File, error) {
	n, err := raw.Read(p)
	return n, nil, err
}

func writeWithFiles(net.Conn, []byte, []*os.File) (int, error) { return 0, ErrFilesUnsupported }
