package sandbox

import (
	"encoding/binary"
	"fmt"
)

// maxMessage bounds what the init reads: arguments and environment together are smaller than what the kernel takes.
const maxMessage = 8 << 20

// The init's numbers; init/countersign-init.c holds the same.
const (
	initMagic = 0x31495343 // "CSI1"

	flagTerminal  = 1
	flagDirectory = 2

	ruleOptional = 1

	headerSize = 16*4 + 3*8 + 8*4
)

// limit is one resource limit, soft and hard alike.
type limit struct {
	Resource uint32
	Value    uint64
}

// message is everything countersign-init is told, once.
type message struct {
	Flags        uint32
	Umask        uint32
	Status, Self uint32 // descriptors
	Last         uint32 // the highest descriptor the broker gave
	Stdio        [3]uint32
	Handled      rights
	Rules        []rule
	Limits       []limit
	Filter       []instruction
	Path         string // the program to execute
	Argv, Env    []string
	Cwd          string
	TryMounted   string // created under a read-only mount: must fail with EROFS
	TryRun       string // created where no rule allows it: must fail with EACCES
	TryRoot      string // listed where no rule allows it: must fail with EACCES
}

// encode lays the message out as the init's comment describes.
func (m message) encode() ([]byte, error) {
	var texts []byte
	text := func(s string) uint32 {
		at := len(texts)
		texts = append(append(texts, s...), 0)
		return uint32(at)
	}
	path, cwd := text(m.Path), text(m.Cwd)
	mounted, run, root := text(m.TryMounted), text(m.TryRun), text(m.TryRoot)

	le := binary.NativeEndian
	var arrays []byte
	for _, r := range m.Rules {
		arrays = le.AppendUint64(arrays, r.Access)
		arrays = le.AppendUint32(arrays, text(r.Path))
		var flags uint32
		if r.Optional {
			flags = ruleOptional
		}
		arrays = le.AppendUint32(arrays, flags)
	}
	for _, l := range m.Limits {
		arrays = le.AppendUint32(arrays, l.Resource)
		arrays = le.AppendUint32(arrays, 0)
		arrays = le.AppendUint64(arrays, l.Value)
		arrays = le.AppendUint64(arrays, l.Value)
	}
	arrays = append(arrays, programBytes(m.Filter)...)
	for _, arg := range m.Argv {
		arrays = le.AppendUint32(arrays, text(arg))
	}
	for _, entry := range m.Env {
		arrays = le.AppendUint32(arrays, text(entry))
	}

	total := headerSize + len(arrays) + len(texts)
	if total > maxMessage {
		return nil, fmt.Errorf("%w: %d bytes of arguments and environment", ErrTooLong, len(texts))
	}
	out := make([]byte, 0, total)
	for _, v := range []uint32{
		initMagic, uint32(total), m.Flags, m.Umask, m.Status, m.Self, m.Last, m.Stdio[0], m.Stdio[1], m.Stdio[2],
		uint32(len(m.Rules)), 0, uint32(len(m.Limits)), uint32(len(m.Filter)), uint32(len(m.Argv)), uint32(len(m.Env)),
	} {
		out = le.AppendUint32(out, v)
	}
	for _, v := range []uint64{m.Handled.FS, m.Handled.Net, m.Handled.Scoped} {
		out = le.AppendUint64(out, v)
	}
	for _, v := range []uint32{m.Handled.Size, 0, 0, path, cwd, mounted, run, root} {
		out = le.AppendUint32(out, v)
	}
	return append(append(out, arrays...), texts...), nil
}
