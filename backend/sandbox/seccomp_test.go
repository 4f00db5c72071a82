package sandbox

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// run interprets a program on one system call as the kernel would.
func runFilter(t interface{ Fatalf(string, ...any) }, code []instruction, arch uint32, number int, args ...uint64) uint32 {
	var all [6]uint64
	copy(all[:], args)
	load := func(offset uint32) uint32 {
		switch {
		case offset == dataNumber:
			return uint32(number)
		case offset == dataArch:
			return arch
		case offset >= dataArgs && offset < dataArgs+48 && offset%4 == 0:
			v := all[(offset-dataArgs)/8]
			if offset%8 != 0 {
				return uint32(v >> 32)
			}
			return uint32(v)
		}
		t.Fatalf("load of %d", offset)
		return 0
	}
	var a uint32
	for pc := 0; pc < len(code); pc++ {
		in := code[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(in.JT)
			} else {
				pc += int(in.JF)
			}
		}
		switch in.Code {
		case bpfLoad:
			a = load(in.K)
		case bpfEqual:
			jump(a == in.K)
		case bpfAbove:
			jump(a > in.K)
		case bpfSet:
			jump(a&in.K != 0)
		case bpfReturn:
			return in.K
		default:
			t.Fatalf("instruction %d: opcode %#x", pc, in.Code)
		}
	}
	t.Fatalf("fell off the end")
	return 0
}

var machines = []machine{machineAMD64, machineARM64}

func TestFilterAnswers(t *testing.T) {
	const eperm, eacces, enosys, nofamily, noproto = answerErrno | 1, answerErrno | 13, answerErrno | 38, answerErrno | 97, answerErrno | 93
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			code := seccompFor(m)
			if len(code) > 4096 {
				t.Fatalf("%d instructions", len(code))
			}
			nr := func(name string) int {
				n, ok := syscallNumbers[name]
				if !ok {
					t.Fatalf("no number for %s", name)
				}
				return n[m.index]
			}
			for _, name := range refused {
				if n := nr(name); n != none {
					if got := runFilter(t, code, m.audit, n); got != eperm {
						t.Errorf("%s: %#x", name, got)
					}
				}
			}
			for _, name := range absent {
				if got := runFilter(t, code, m.audit, nr(name)); got != enosys {
					t.Errorf("%s: %#x", name, got)
				}
			}
			for _, c := range []struct {
				what string
				nr   int
				args []uint64
				want uint32
			}{
				{"read", map[string]int{"amd64": 0, "arm64": 63}[m.name], nil, answerAllow},
				{"execve", map[string]int{"amd64": 59, "arm64": 221}[m.name], nil, answerAllow},
				{"last judged", lastJudged, nil, answerAllow},
				{"newer", lastJudged + 1, nil, enosys},
				{"minus one", -1, nil, enosys},
				{"x32 read", x32Bit, nil, enosys},
				{"ioctl TCGETS", nr("ioctl"), []uint64{0, 0x5401}, answerAllow},
				{"ioctl TIOCSTI", nr("ioctl"), []uint64{0, 0x5412}, eperm},
				{"ioctl TIOCSTI, high bits set", nr("ioctl"), []uint64{0, 0x5412 | 1<<32}, eperm},
				{"ioctl TIOCLINUX", nr("ioctl"), []uint64{0, 0x541c}, eperm},
				{"fork", nr("clone"), []uint64{17}, answerAllow},
				{"thread", nr("clone"), []uint64{0x3d0f00}, answerAllow},
				{"clone NEWUSER", nr("clone"), []uint64{0x10000000 | 17}, eperm},
				{"clone NEWNS", nr("clone"), []uint64{0x20000}, eperm},
				{"clone NEWTIME", nr("clone"), []uint64{0x80}, eperm},
				{"unix", nr("socket"), []uint64{1, 1, 0}, eacces},
				{"unix datagram", nr("socket"), []uint64{1, 2, 0}, eacces},
				{"unix, high bits set", nr("socket"), []uint64{1 | 1<<32, 1, 0}, eacces},
				{"unix pair", nr("socketpair"), []uint64{1, 1 | 0x80800, 0}, answerAllow},
				{"unix packet pair", nr("socketpair"), []uint64{1, 5, 0}, answerAllow},
				{"unix datagram pair", nr("socketpair"), []uint64{1, 2 | 0x80000, 0}, eacces},
				{"unix raw pair, which is one of datagrams", nr("socketpair"), []uint64{1, 3 | 1<<32, 0}, eacces},
				{"tcp pair", nr("socketpair"), []uint64{2, 1, 0}, answerAllow},
				{"tcp", nr("socket"), []uint64{2, 1, 0}, answerAllow},
				{"tcp6", nr("socket"), []uint64{10, 1, 6}, answerAllow},
				{"mptcp", nr("socket"), []uint64{2, 1, 262}, noproto},
				{"smc", nr("socket"), []uint64{10, 1, 256}, noproto},
				{"route", nr("socket"), []uint64{16, 3, 0}, answerAllow},
				{"audit", nr("socket"), []uint64{16, 3, 9}, nofamily},
				{"vsock", nr("socket"), []uint64{40, 1, 0}, nofamily},
				{"vsock, high bits set", nr("socket"), []uint64{40 | 1<<32, 1, 0}, nofamily},
				{"alg", nr("socket"), []uint64{38, 5, 0}, nofamily},
				{"packet", nr("socket"), []uint64{17, 3, 0}, nofamily},
				{"smc family", nr("socket"), []uint64{43, 1, 0}, nofamily},
				{"tipc pair", nr("socketpair"), []uint64{30, 1, 0}, nofamily},
			} {
				if got := runFilter(t, code, m.audit, c.nr, c.args...); got != c.want {
					t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
				}
			}
			for _, other := range []uint32{0x40000003 /* i386 */, 0x40000028 /* arm */, 0, ^m.audit} {
				if got := runFilter(t, code, other, 0); got != answerKill {
					t.Errorf("architecture %#x: %#x", other, got)
				}
			}
		})
	}
}

// TestFilterIsTotal: every call of every architecture gets one of the answers that are meant.
func TestFilterIsTotal(t *testing.T) {
	for _, m := range machines {
		code := seccompFor(m)
		known := []uint32{answerKill, answerAllow, errno(errPerm), errno(errAccess), errno(errNoSys), errno(errNoFamily), errno(errNoProtocol)}
		rapid.Check(t, func(t *rapid.T) {
			arch := rapid.SampledFrom([]uint32{m.audit, rapid.Uint32().Draw(t, "other")}).Draw(t, "arch")
			number := rapid.OneOf(rapid.IntRange(-2, lastJudged+10), rapid.Int()).Draw(t, "number")
			args := rapid.SliceOfN(rapid.Uint64(), 6, 6).Draw(t, "args")
			if got := runFilter(t, code, arch, number, args...); !slices.Contains(known, got) {
				t.Fatalf("%#x", got)
			}
		})
	}
}
