package sandbox

import (
	"encoding/binary"
	"slices"
)

// instruction is one classic BPF instruction: struct sock_filter of linux/filter.h.
type instruction struct {
	Code   uint16
	JT, JF uint8
	K      uint32
}

// BPF opcodes that are used here.
const (
	bpfLoad   = 0x20 // BPF_LD | BPF_W | BPF_ABS
	bpfEqual  = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	bpfAbove  = 0x25 // BPF_JMP | BPF_JGT | BPF_K
	bpfSet    = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	bpfReturn = 0x06 // BPF_RET | BPF_K
)

// Answers of a filter, from linux/seccomp.h.
const (
	answerKill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	answerErrno = 0x00050000 // SECCOMP_RET_ERRNO
	answerAllow = 0x7fff0000 // SECCOMP_RET_ALLOW
)

// Error numbers, the same on every architecture used here.
const (
	errPerm       = 1
	errAccess     = 13
	errNoSys      = 38
	errNoProtocol = 93 // EPROTONOSUPPORT
	errNoFamily   = 97 // EAFNOSUPPORT
)

// Offsets in struct seccomp_data.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

// What is looked for in arguments.
const (
	// time, mount, cgroup, uts, ipc, user, pid and network namespaces
	cloneNewNamespaces = 0x00000080 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

	x32Bit = 0x40000000 // in a system call number

	afUnix, afInet, afInet6, afNetlink = 1, 2, 10, 16
	netlinkRoute                       = 0
	datagramBit                        = 2        // in a socket type, of SOCK_DGRAM and SOCK_RAW and not of SOCK_STREAM and SOCK_SEQPACKET
	protoMPTCP, protoSMC               = 262, 256 // would pass Landlock's TCP rules
	ioctlSTI, ioctlLinux               = 0x5412, 0x541c
)

// refused are the system calls that answer EPERM whatever their arguments. The kernel would refuse many of them to a
// process without capabilities; here they do not even reach the code that decides.
var refused = []string{
	// mounts and roots
	"mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
	"fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd",
	// namespaces; clone is judged by its flags below
	"unshare", "setns",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
	// keys, kernel programs, performance counters, page faults handled in user space
	"keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "fanotify_init",
	// files by handle, past every path
	"name_to_handle_at", "open_by_handle_at",
	// the machine itself
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "acct", "syslog", "iopl",
	"ioperm", "modify_ldt", "vhangup", "settimeofday", "clock_settime", "sethostname", "setdomainname",
	"lookup_dcookie", "nfsservctl",
}

// absent answer ENOSYS, so that programs fall back to the older call: io_uring does its work where no filter sees it, and
// clone3 keeps its flags in memory, where a filter cannot look (glibc and Go fall back to clone).
var absent = []string{"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"}

// program collects instructions for one machine.
type program struct {
	m    machine
	code []instruction
}

func (p *program) emit(code uint16, jt, jf uint8, k uint32) {
	p.code = append(p.code, instruction{code, jt, jf, k})
}

func errno(n uint32) uint32 { return answerErrno | n }

// when emits body, run only when the system call's number is that of name. Afterwards the accumulator may hold
// anything, so body must end in an answer on every path or the number is loaded again.
func (p *program) when(name string, body func()) {
	n := syscallNumbers[name][p.m.index]
	if n == none {
		return
	}
	at := len(p.code)
	p.emit(bpfEqual, 0, 0, uint32(n))
	body()
	p.code[at].JF = uint8(len(p.code) - at - 1)
}

// argument loads the low half of an argument. The kernel cuts ints to 32 bits, so a filter that looked at the high half
// could be passed by setting it.
func (p *program) argument(i uint32) { p.emit(bpfLoad, 0, 0, dataArgs+8*i) }

// seccompFor returns the filter for one machine: a list of refusals in front of "allow", everything about another
// architecture killed, everything newer than the author absent.
func seccompFor(m machine) []instruction {
	p := &program{m: m}
	p.emit(bpfLoad, 0, 0, dataArch)
	p.emit(bpfEqual, 1, 0, m.audit)
	p.emit(bpfReturn, 0, 0, answerKill)
	p.emit(bpfLoad, 0, 0, dataNumber)
	// x32 numbers lie above lastJudged too, as does the -1 that tracers use.
	p.emit(bpfAbove, 0, 1, lastJudged)
	p.emit(bpfReturn, 0, 0, errno(errNoSys))
	if m.x32 {
		p.emit(bpfSet, 0, 1, x32Bit)
		p.emit(bpfReturn, 0, 0, errno(errNoSys))
	}
	p.when("ioctl", func() {
		p.argument(1)
		p.emit(bpfEqual, 1, 0, ioctlSTI)
		p.emit(bpfEqual, 0, 1, ioctlLinux)
		p.emit(bpfReturn, 0, 0, errno(errPerm))
		p.emit(bpfReturn, 0, 0, answerAllow)
	})
	p.when("clone", func() {
		p.argument(0)
		p.emit(bpfSet, 0, 1, cloneNewNamespaces)
		p.emit(bpfReturn, 0, 0, errno(errPerm))
		p.emit(bpfReturn, 0, 0, answerAllow)
	})
	p.when("socket", func() { p.judgeSocket(false) })
	p.when("socketpair", func() { p.judgeSocket(true) })
	for _, name := range absent {
		p.when(name, func() { p.emit(bpfReturn, 0, 0, errno(errNoSys)) })
	}
	for _, name := range slices.Sorted(slices.Values(refused)) {
		p.when(name, func() { p.emit(bpfReturn, 0, 0, errno(errPerm)) })
	}
	p.emit(bpfReturn, 0, 0, answerAllow)
	return p.code
}

// judgeSocket allows the families that programs need: the two internet families without the protocols that Landlock does
// not see, and of netlink the route family, by which the C library lists addresses. Of unix sockets only connected pairs
// are given: the path of a connect is not visible here, and where a socket file of the host's lies in a readable root,
// whoever can make a socket can talk to what listens there. A datagram pair can still be sent and connected elsewhere, so
// a pair must be of another type.
func (p *program) judgeSocket(pair bool) {
	var connected uint8
	if pair {
		connected = 1
	}
	p.argument(0)                                 // 0: family
	p.emit(bpfEqual, 4, 0, afUnix)                // 1: to 6
	p.emit(bpfEqual, 7, 0, afInet)                // 2: to 10
	p.emit(bpfEqual, 6, 0, afInet6)               // 3: to 10
	p.emit(bpfEqual, 10, 0, afNetlink)            // 4: to 15
	p.emit(bpfReturn, 0, 0, errno(errNoFamily))   // 5
	p.argument(1)                                 // 6: unix, type
	p.emit(bpfSet, 0, connected, datagramBit)     // 7: a connected pair to 9, all else to 8
	p.emit(bpfReturn, 0, 0, errno(errAccess))     // 8
	p.emit(bpfReturn, 0, 0, answerAllow)          // 9
	p.argument(2)                                 // 10: internet, protocol
	p.emit(bpfEqual, 2, 0, protoMPTCP)            // 11: to 14
	p.emit(bpfEqual, 1, 0, protoSMC)              // 12: to 14
	p.emit(bpfReturn, 0, 0, answerAllow)          // 13
	p.emit(bpfReturn, 0, 0, errno(errNoProtocol)) // 14
	p.argument(2)                                 // 15: netlink, protocol
	p.emit(bpfEqual, 0, 1, netlinkRoute)          // 16: else to 18
	p.emit(bpfReturn, 0, 0, answerAllow)          // 17
	p.emit(bpfReturn, 0, 0, errno(errNoFamily))   // 18
}

// programBytes returns the program as the kernel reads it.
func programBytes(code []instruction) []byte {
	out := make([]byte, 0, 8*len(code))
	for _, in := range code {
		out = binary.NativeEndian.AppendUint16(out, in.Code)
		out = append(out, in.JT, in.JF)
		out = binary.NativeEndian.AppendUint32(out, in.K)
	}
	return out
}
