package server

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/wire"
)

// kernel is a process table that a test describes. Each look at a process may change it.
type kernel struct {
	table map[int]entry
	looks int
	event func(k *kernel) // called before every look
}

func (k *kernel) look(pid int) (entry, error) {
	k.looks++
	if k.event != nil {
		k.event(k)
	}
	e, ok := k.table[pid]
	if !ok {
		return entry{}, errGone
	}
	return e, nil
}

func proc(pid, parent int, start uint64) entry {
	return entry{process: wire.Process{PID: pid, Start: start}, parent: parent}
}

func tableOf(entries ...entry) map[int]entry {
	table := map[int]entry{}
	for _, e := range entries {
		table[e.process.PID] = e
	}
	return table
}

func TestReadChain(t *testing.T) {
	plain := func() map[int]entry { return tableOf(proc(30, 20, 3), proc(20, 10, 2), proc(10, 1, 1), proc(1, 0, 0)) }
	tests := []struct {
		name     string
		kernel   kernel
		want     []int
		complete bool
		err      error
	}{
		{"plain", kernel{table: plain()}, []int{30, 20, 10, 1}, true, nil},
		{"gone", kernel{table: tableOf(proc(1, 0, 0))}, nil, false, ErrPeerUnknown},
		{"a parent that is hidden", kernel{table: tableOf(proc(30, 20, 3), proc(20, 10, 2))}, []int{30, 20}, false, nil},
		{"its own parent", kernel{table: tableOf(proc(30, 30, 3))}, []int{30}, true, nil},
		{"the peer ends while it is read", kernel{table: plain(), event: func(k *kernel) {
			if k.looks == 3 {
				delete(k.table, 30)
			}
		}}, nil, false, ErrPeerUnknown},
		{"the peer's number is given away while it is read", kernel{table: plain(), event: func(k *kernel) {
			if k.looks == 3 {
				k.table[30] = proc(30, 20, 99)
			}
		}}, nil, false, ErrPeerUnknown},
		{"the parent ends and its number is given away", kernel{table: plain(), event: func(k *kernel) {
			if k.looks == 2 { // between the look at the child and the look at the parent
				k.table[20] = proc(20, 1, 99)
				k.table[30] = proc(30, 1, 3)
			}
		}}, []int{30, 1}, true, nil},
		{"an ancestor ends while it is read", kernel{table: plain(), event: func(k *kernel) {
			if k.looks == 5 {
				delete(k.table, 20)
				k.table[30] = proc(30, 1, 3)
			}
		}}, []int{30, 1}, true, nil},
		{"a peer that changes its parent without end", kernel{table: plain(), event: func(k *kernel) {
			k.table[30] = proc(30, []int{10, 20, 20}[k.looks%3], 3)
		}}, nil, false, ErrPeerUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, rest, complete, err := readChain(30, tt.kernel.look)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			got := []int{first.process.PID}
			for _, p := range rest {
				got = append(got, p.PID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if complete != tt.complete {
				t.Errorf("complete %v, want %v", complete, tt.complete)
			}
		})
	}
}

// An agent that starts a child of a child of a child … must not get above the end of the chain.
func TestReadChainTooDeep(t *testing.T) {
	k := kernel{table: map[int]entry{}}
	for pid := 1; pid <= MaxAncestors+1; pid++ {
		k.table[pid] = proc(pid, pid-1, uint64(pid))
	}
	if _, _, _, err := readChain(MaxAncestors+1, k.look); !errors.Is(err, ErrTooDeep) {
		t.Errorf("error %v, want ErrTooDeep", err)
	}
	if _, rest, complete, err := readChain(MaxAncestors, k.look); err != nil || !complete || len(rest) != MaxAncestors-1 {
		t.Errorf("%d ancestors, complete %v, %v", len(rest), complete, err)
	}
}

func TestSelf(t *testing.T) {
	peer, err := Self()
	if err != nil {
		t.Skip(err)
	}
	if peer.UID != os.Geteuid() || peer.Chain[0].PID != os.Getpid() || len(peer.Chain) < 2 || peer.Chain[1].PID != os.Getppid() {
		t.Errorf("peer %+v", peer)
	}
	exe, err := os.Executable()
	if err != nil || peer.Chain[0].Exe != exe {
		t.Errorf("program %q, want %q (%v)", peer.Chain[0].Exe, exe, err)
	}
	if peer.Chain[0].Start == 0 || peer.Chain[0].Name == "" {
		t.Errorf("process %+v", peer.Chain[0])
	}
}

func TestShorten(t *testing.T) {
	got := shorten([]string{"a", "\xff\xfe", strings.Repeat("é", 1000)})
	if got[0] != "a" || got[1] != "\uFFFD" || len(got[2]) > maxArgBytes || !strings.HasSuffix(got[2], "…") || !utf8.ValidString(got[2]) {
		t.Errorf("got %q", got)
	}
	if n := len(shorten(make([]string, 100))); n != maxArgs {
		t.Errorf("%d arguments, want %d", n, maxArgs)
	}
}

func TestRefusal(t *testing.T) {
	for _, tt := range []struct{ err, want error }{
		{ErrWrongUser, ErrWrongUser}, {ErrTooDeep, ErrTooDeep}, {errGone, ErrPeerUnknown},
	} {
		if e := refusal(tt.err); e.Code != wire.CodeWrongUser || e.Args["problem"] != tt.want.Error() {
			t.Errorf("%v: %v", tt.err, e)
		}
	}
}

func TestParseProcArgs(t *testing.T) {
	count := func(n uint32) string { return string(binary.NativeEndian.AppendUint32(nil, n)) }
	tests := []struct {
		name, data, exe string
		args            []string
	}{
		{"plain", count(2) + "/bin/ls\x00\x00\x00\x00ls\x00-l\x00HOME=/secret\x00", "/bin/ls", []string{"ls", "-l"}},
		{"no arguments", count(0) + "/bin/ls\x00\x00HOME=/secret\x00", "/bin/ls", nil},
		{"cut off in an argument", count(3) + "/bin/ls\x00ls\x00-", "/bin/ls", []string{"ls"}},
		{"a count that lies", count(1<<31) + "/bin/ls\x00ls\x00", "/bin/ls", []string{"ls"}},
		{"cut off in the path", count(1) + "/bin/l", "", nil},
		{"cut off in the count", "\x01", "", nil},
		{"nothing", "", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exe, args := parseProcArgs([]byte(tt.data))
			if exe != tt.exe || !cmp.Equal(args, tt.args) {
				t.Errorf("got %q %q", exe, args)
			}
		})
	}
}
