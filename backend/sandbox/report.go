package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// Kinds of what the init says.
const (
	kindHello      = 1
	kindStart      = 2
	kindFailed     = 3
	kindExecFailed = 4
	kindExit       = 5
)

// steps names what the init was doing when it failed, by its STEP_ numbers.
var steps = []string{
	"", "message", "privileges", "fork", "streams", "working directory", "landlock ruleset", "landlock rule",
	"landlock port", "landlock", "limit", "descriptors", "seccomp", "pid namespace",
}

// Indexes of report.Attempts.
const (
	tryMounted = iota
	tryRun
	tryRoot
	tryConnect
	tryUnshare
	tryVsock
	trySTI
	tryUnix
	attempts = 8
)

// namespaceNames are the namespaces a report and the broker name, in the report's order.
var namespaceNames = [...]string{"user", "pid", "mnt", "ipc", "uts", "net", "cgroup"}

// namespaces holds one id (an inode of nsfs) for each of namespaceNames.
type namespaces [len(namespaceNames)]uint64

// report is what countersign-init says of the process that will become the command, from inside, before it does.
type report struct {
	Kind, Step, Index                         uint32
	Error                                     int32
	ABI, Seccomp, NoNewPrivs, Securebits, PID uint32
	UID, GID                                  uint32
	Capabilities                              [5]uint64 // effective, permitted, inheritable, bounding, ambient
	HandledFS, HandledNet, Scoped             uint64
	Namespaces                                namespaces
	Cwd                                       pathid.Identity
	Attempts                                  [attempts]int32 // error numbers, 0 where the attempt succeeded
}

// The sizes of struct report and of struct exit_report without the directory.
const (
	reportSize   = 12*4 + 8*8 + len(namespaceNames)*8 + 2*8 + attempts*4
	exitSize     = 4*4 + 5*8
	exitPathSize = 4096
)

var errReport = errors.New("malformed report from the init")

// words reads numbers one after another from a report.
type words []byte

func (w *words) u32() uint32 {
	v := binary.NativeEndian.Uint32(*w)
	*w = (*w)[4:]
	return v
}

func (w *words) u64() uint64 {
	v := binary.NativeEndian.Uint64(*w)
	*w = (*w)[8:]
	return v
}

func parseReport(data []byte) (report, error) {
	if len(data) != reportSize {
		return report{}, errReport
	}
	w := words(data)
	if w.u32() != initMagic {
		return report{}, errReport
	}
	r := report{Kind: w.u32(), Step: w.u32(), Index: w.u32(), Error: int32(w.u32())}
	r.ABI, r.Seccomp, r.NoNewPrivs = w.u32(), w.u32(), w.u32()
	r.Securebits, r.PID, r.UID, r.GID = w.u32(), w.u32(), w.u32(), w.u32()
	for i := range r.Capabilities {
		r.Capabilities[i] = w.u64()
	}
	r.HandledFS, r.HandledNet, r.Scoped = w.u64(), w.u64(), w.u64()
	for i := range r.Namespaces {
		r.Namespaces[i] = w.u64()
	}
	r.Cwd = pathid.Identity{Device: w.u64(), Inode: w.u64()}
	for i := range r.Attempts {
		r.Attempts[i] = int32(w.u32())
	}
	if r.Kind != kindStart && r.Kind != kindFailed && r.Kind != kindExecFailed {
		return report{}, errReport
	}
	return r, nil
}

// exitReport is what pid 1 says when the command and everything it left are gone.
type exitReport struct {
	Status           uint32 // as wait4(2) gives it
	UserUS, SystemUS uint64
	MaxRSS           uint64 // kilobytes
	Cwd              pathid.Identity
	Directory        string
}

func parseExit(data []byte) (exitReport, error) {
	if len(data) != exitSize+exitPathSize {
		return exitReport{}, errReport
	}
	w := words(data)
	if w.u32() != initMagic || w.u32() != kindExit {
		return exitReport{}, errReport
	}
	e := exitReport{Status: w.u32()}
	length := w.u32()
	e.UserUS, e.SystemUS, e.MaxRSS = w.u64(), w.u64(), w.u64()
	e.Cwd = pathid.Identity{Device: w.u64(), Inode: w.u64()}
	if length >= exitPathSize {
		return exitReport{}, errReport
	}
	e.Directory = string(w[:length])
	return e, nil
}

// demand is what the report of one process is measured by.
type demand struct {
	Outside namespaces // the broker's own
	Handled rights
	Cwd     pathid.Identity // zero: not compared (the probe)
}

// Linux error numbers that attempts are measured by.
const (
	linuxEACCES = 13
	linuxEROFS  = 30
)

// securebitsWanted are SECBIT_NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE, each locked, and KEEP_CAPS locked off.
const securebitsWanted = 0x01 | 0x02 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80

// layers judges a report. Every layer it returns is demanded: the boundary is Enforced only when all are OK.
func (d demand) layers(r report) []capability.Layer {
	var list []capability.Layer
	say := func(name string, ok bool, format string, args ...any) {
		list = append(list, capability.Layer{Name: name, OK: ok, Detail: fmt.Sprintf(format, args...)})
	}
	own := true
	var ids []string
	for i, id := range r.Namespaces {
		own = own && id != 0 && d.Outside[i] != 0 && id != d.Outside[i]
		ids = append(ids, fmt.Sprintf("%s:%d", namespaceNames[i], id))
	}
	say("namespaces", own && r.PID == 2, "%s", strings.Join(ids, " "))
	say("mounts", r.Attempts[tryMounted] == linuxEROFS, "write to a system directory: %s", attempt(r.Attempts[tryMounted]))
	say("landlock", r.ABI >= 1 && int(r.ABI) >= d.Handled.ABI && r.HandledFS == d.Handled.FS && d.Handled.FS != 0 &&
		r.HandledNet == d.Handled.Net && r.Scoped == d.Handled.Scoped &&
		r.Attempts[tryRun] == linuxEACCES && r.Attempts[tryRoot] == linuxEACCES,
		"ABI %d, handled files %#x net %#x scoped %#x; create in /run: %s; list /: %s", r.ABI, r.HandledFS, r.HandledNet,
		r.Scoped, attempt(r.Attempts[tryRun]), attempt(r.Attempts[tryRoot]))
	// Where Landlock is too old for TCP, the network namespace, which has no interface but loopback, is the proof.
	net := r.Namespaces[5] != 0 && r.Namespaces[5] != d.Outside[5]
	say("network", net && (d.Handled.Net == 0 || r.Attempts[tryConnect] == linuxEACCES),
		"own network namespace; connect: %s", attempt(r.Attempts[tryConnect]))
	say("seccomp", r.Seccomp == 2 && r.Attempts[tryUnshare] == errPerm && r.Attempts[tryVsock] == errNoFamily &&
		r.Attempts[trySTI] == errPerm && r.Attempts[tryUnix] == linuxEACCES,
		"mode %d; unshare: %s; vsock: %s; TIOCSTI: %s; unix socket: %s", r.Seccomp, attempt(r.Attempts[tryUnshare]),
		attempt(r.Attempts[tryVsock]), attempt(r.Attempts[trySTI]), attempt(r.Attempts[tryUnix]))
	say("no_new_privs", r.NoNewPrivs == 1, "%d", r.NoNewPrivs)
	say("capabilities", r.Capabilities == [5]uint64{} && r.Securebits&securebitsWanted == securebitsWanted,
		"effective %#x permitted %#x inheritable %#x bounding %#x ambient %#x, securebits %#x", r.Capabilities[0],
		r.Capabilities[1], r.Capabilities[2], r.Capabilities[3], r.Capabilities[4], r.Securebits)
	return list
}

// missing returns the first layer that is not in force.
func missing(layers []capability.Layer) (capability.Layer, bool) {
	for _, l := range layers {
		if !l.OK {
			return l, true
		}
	}
	return capability.Layer{}, len(layers) == 0
}

// attempt names the error numbers that matter here.
func attempt(n int32) string {
	switch n {
	case 0:
		return "succeeded"
	case errPerm:
		return "EPERM"
	case linuxEACCES:
		return "EACCES"
	case 22:
		return "EINVAL"
	case 25:
		return "ENOTTY"
	case linuxEROFS:
		return "EROFS"
	case errNoSys:
		return "ENOSYS"
	case errNoFamily:
		return "EAFNOSUPPORT"
	case 111:
		return "ECONNREFUSED"
	case 101:
		return "ENETUNREACH"
	}
	return fmt.Sprintf("error %d", n)
}
