package sandbox

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/pathid"
)

func goodReport() (report, demand) {
	h := rightsOf(7)
	r := report{
		Kind: kindStart, ABI: 7, Seccomp: 2, NoNewPrivs: 1, Securebits: 0xef, PID: 2, HandledFS: h.FS, HandledNet: h.Net,
		Scoped: h.Scoped, Cwd: pathid.Identity{Device: 1, Inode: 2},
		Attempts: [attempts]int32{linuxEROFS, linuxEACCES, linuxEACCES, linuxEACCES, errPerm, errNoFamily, errPerm, linuxEACCES},
	}
	d := demand{Handled: h}
	for i := range r.Namespaces {
		r.Namespaces[i], d.Outside[i] = uint64(100+i), uint64(200+i)
	}
	return r, d
}

// TestEveryDefectIsNoticed changes one thing at a time in a perfect report.
func TestEveryDefectIsNoticed(t *testing.T) {
	good, d := goodReport()
	if l, bad := missing(d.layers(good)); bad {
		t.Fatalf("%+v", l)
	}
	for _, c := range []struct {
		name, layer string
		change      func(*report)
	}{
		{"shared user namespace", "namespaces", func(r *report) { r.Namespaces[0] = d.Outside[0] }},
		{"shared cgroup namespace", "namespaces", func(r *report) { r.Namespaces[6] = d.Outside[6] }},
		{"unknown namespace", "namespaces", func(r *report) { r.Namespaces[3] = 0 }},
		{"not pid 2", "namespaces", func(r *report) { r.PID = 1 }},
		{"system writable", "mounts", func(r *report) { r.Attempts[tryMounted] = 0 }},
		{"system refused by another layer", "mounts", func(r *report) { r.Attempts[tryMounted] = linuxEACCES }},
		{"older ABI", "landlock", func(r *report) { r.ABI = 6 }},
		{"fewer rights", "landlock", func(r *report) { r.HandledFS &^= llTruncate }},
		{"no net rights", "landlock", func(r *report) { r.HandledNet = 0 }},
		{"no scope", "landlock", func(r *report) { r.Scoped = 0 }},
		{"run writable", "landlock", func(r *report) { r.Attempts[tryRun] = 0 }},
		{"run read-only for another reason", "landlock", func(r *report) { r.Attempts[tryRun] = linuxEROFS }},
		{"root listed", "landlock", func(r *report) { r.Attempts[tryRoot] = 0 }},
		{"connect refused by nobody there", "network", func(r *report) { r.Attempts[tryConnect] = 111 }},
		{"no filter", "seccomp", func(r *report) { r.Seccomp = 0 }},
		{"unshare", "seccomp", func(r *report) { r.Attempts[tryUnshare] = 0 }},
		{"vsock", "seccomp", func(r *report) { r.Attempts[tryVsock] = 0 }},
		{"sti", "seccomp", func(r *report) { r.Attempts[trySTI] = 25 }},
		{"unix socket", "seccomp", func(r *report) { r.Attempts[tryUnix] = 0 }},
		{"privileges", "no_new_privs", func(r *report) { r.NoNewPrivs = 0 }},
		{"bounding", "capabilities", func(r *report) { r.Capabilities[3] = 1 }},
		{"effective", "capabilities", func(r *report) { r.Capabilities[0] = 1 << 21 }},
		{"securebits", "capabilities", func(r *report) { r.Securebits = 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := goodReport()
			c.change(&r)
			l, bad := missing(d.layers(r))
			if !bad || l.Name != c.layer || l.Detail == "" {
				t.Errorf("%v %+v", bad, l)
			}
		})
	}
	if _, bad := missing(nil); !bad {
		t.Error("no layer at all is enough")
	}
	// Without knowledge of our own namespaces nothing can be shown.
	if l, bad := missing(demand{Handled: d.Handled}.layers(good)); !bad || l.Name != "namespaces" {
		t.Errorf("%v %+v", bad, l)
	}
}

// TestOldLandlockMeetsTheNetworkByNamespace: a protection may be met by any layer that proves it.
func TestOldLandlockMeetsTheNetworkByNamespace(t *testing.T) {
	r, d := goodReport()
	d.Handled = rightsOf(3)
	r.ABI, r.HandledFS, r.HandledNet, r.Scoped, r.Attempts[tryConnect] = 3, d.Handled.FS, 0, 0, 111
	if l, bad := missing(d.layers(r)); bad {
		t.Errorf("%+v", l)
	}
}

func encodeReport(r report) []byte {
	var b bytes.Buffer
	for _, v := range []any{
		uint32(initMagic), r.Kind, r.Step, r.Index, r.Error, r.ABI, r.Seccomp, r.NoNewPrivs, r.Securebits, r.PID, r.UID, r.GID,
		r.Capabilities, r.HandledFS, r.HandledNet, r.Scoped, r.Namespaces, r.Cwd.Device, r.Cwd.Inode, r.Attempts,
	} {
		_ = binary.Write(&b, binary.NativeEndian, v)
	}
	return b.Bytes()
}

func TestReportIsReadAsWritten(t *testing.T) {
	want, _ := goodReport()
	want.Capabilities = [5]uint64{1, 2, 3, 4, 5}
	want.Step, want.Index, want.Error, want.UID, want.GID = 6, 7, -8, 9, 10
	got, err := parseReport(encodeReport(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][]byte{nil, encodeReport(want)[1:], make([]byte, reportSize), encodeReport(report{Kind: kindExit})} {
		if _, err := parseReport(bad); err == nil {
			t.Errorf("%d bytes were taken", len(bad))
		}
	}
}

func FuzzReports(f *testing.F) {
	r, _ := goodReport()
	f.Add(encodeReport(r))
	f.Add(append(binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, initMagic), kindExit), make([]byte, exitSize+exitPathSize-8)...))
	f.Add([]byte("CSI1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := parseReport(data); err == nil && !bytes.Equal(encodeReport(r), data) {
			t.Error("a report does not survive")
		}
		if e, err := parseExit(data); err == nil && len(e.Directory) >= exitPathSize {
			t.Error("directory too long")
		}
	})
}

// TestMessageLayout reads the constants of the C program: both sides must agree.
func TestMessageLayout(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("init", "countersign-init.c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"MAGIC = 0x31495343", "FLAG_TERMINAL = 1,", "FLAG_DIRECTORY = 2,", "RULE_OPTIONAL = 1,", "MAX_MESSAGE = 8 << 20",
		"STEP_NAMESPACE = 13,", "ATTEMPTS = 8,", "NAMESPACES = 7,", "KIND_EXIT = 5,",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the init does not say %q", want)
		}
	}
	if len(steps) != 14 {
		t.Errorf("%d steps", len(steps))
	}
	m := message{
		Path: "/p", Argv: []string{"a", "b"}, Env: []string{"E=1"}, Cwd: "/c", TryMounted: "/m", TryRun: "/r", TryRoot: "/",
		Rules: []rule{{"/x", 5, true}}, Limits: []limit{{4, 9}}, Filter: []instruction{{6, 0, 0, 1}}, Handled: rightsOf(7),
	}
	data, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	want := headerSize + 16 + 24 + 8 + 12 + len("/p\x00/c\x00/m\x00/r\x00/\x00/x\x00a\x00b\x00E=1\x00")
	if len(data) != want || int(binary.NativeEndian.Uint32(data[4:])) != want || data[len(data)-1] != 0 {
		t.Errorf("%d bytes, want %d", len(data), want)
	}
	m.Env = []string{strings.Repeat("x", maxMessage)}
	if _, err := m.encode(); err == nil {
		t.Error("too long a message was made")
	}
}
