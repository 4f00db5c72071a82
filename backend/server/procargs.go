package server

import (
	"bytes"
	"encoding/binary"
)

// parseProcArgs reads what KERN_PROCARGS2 of macOS answers: the number of arguments, the path of the program, NULs,
// then the arguments and the environment. All of it is the process's own memory.
func parseProcArgs(data []byte) (exe string, args []string) {
	if len(data) < 4 {
		return "", nil
	}
	count := int(binary.NativeEndian.Uint32(data))
	path, rest, ok := bytes.Cut(data[4:], []byte{0})
	if !ok {
		return "", nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for range min(count, maxArgs) {
		arg, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			break
		}
		args = append(args, string(arg))
		rest = after
	}
	return string(path), shorten(args)
}
