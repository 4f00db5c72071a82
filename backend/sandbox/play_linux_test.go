package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// play runs inside a box (attempts) or as a core of its own. It prints what happened: an error name, or "ok".
func play(part string, args []string) int {
	if part == "core" {
		return playCore(args)
	}
	fn, ok := attemptsInside[part]
	if !ok {
		fmt.Println("unknown part")
		return 2
	}
	fmt.Println(fn(args))
	return 0
}

func name(err error) string {
	if err == nil {
		return "ok"
	}
	for e := err; e != nil; {
		if n, ok := e.(unix.Errno); ok {
			return unix.ErrnoName(n)
		}
		u, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = u.Unwrap()
	}
	return err.Error()
}

func raw(number uintptr, args ...uintptr) string {
	var a [6]uintptr
	copy(a[:], args)
	_, _, e := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if e == 0 {
		return "ok"
	}
	return unix.ErrnoName(e)
}

func socket(family, kind, protocol int) string {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		_ = unix.Close(fd)
	}
	return name(err)
}

var attemptsInside = map[string]func(args []string) string{
	"environment": func([]string) string { return strings.Join(os.Environ(), "\n") },
	"descriptors": func([]string) string {
		var open []string
		for fd := range 1024 {
			var st unix.Stat_t
			if unix.Fstat(fd, &st) != nil {
				continue
			}
			target, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			if !strings.Contains(target, "anon_inode:") || fd < 3 { // the Go runtime's own poller
				open = append(open, fmt.Sprint(fd))
			}
		}
		return strings.Join(open, " ")
	},
	"processes": func([]string) string {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return name(err)
		}
		var pids []string
		for _, e := range entries {
			if e.Name()[0] >= '0' && e.Name()[0] <= '9' {
				pids = append(pids, e.Name())
			}
		}
		return strings.Join(pids, " ")
	},
	"read": func(args []string) string {
		_, err := os.ReadFile(args[0])
		return name(err)
	},
	"append": func(args []string) string {
		f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_ = f.Close()
		}
		return name(err)
	},
	"dial":     func(args []string) string { c, err := net.Dial(args[0], args[1]); return closed(c, err) },
	"listen":   func(args []string) string { l, err := net.Listen(args[0], args[1]); return closed(l, err) },
	"unshare":  func([]string) string { return raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) },
	"setns":    func([]string) string { return raw(unix.SYS_SETNS, 0, 0) },
	"clonens":  func([]string) string { return raw(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)) },
	"clone3":   func([]string) string { return raw(unix.SYS_CLONE3, 0, 0) },
	"mount":    func([]string) string { return name(unix.Mount("none", "/tmp", "tmpfs", 0, "")) },
	"ptrace":   func([]string) string { return raw(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
	"vmread":   func([]string) string { return raw(unix.SYS_PROCESS_VM_READV, 1, 0, 0, 0, 0, 0) },
	"keyctl":   func([]string) string { return raw(unix.SYS_KEYCTL, 0, 0) },
	"bpf":      func([]string) string { return raw(unix.SYS_BPF, 0, 0, 0) },
	"perf":     func([]string) string { return raw(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0) },
	"uffd":     func([]string) string { return raw(unix.SYS_USERFAULTFD, 0) },
	"iouring":  func([]string) string { return raw(unix.SYS_IO_URING_SETUP, 1, 0) },
	"handle":   func([]string) string { return raw(unix.SYS_NAME_TO_HANDLE_AT, 0, 0, 0, 0, 0) },
	"newest":   func([]string) string { return raw(lastJudged + 1) },
	"vsock":    func([]string) string { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
	"alg":      func([]string) string { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) },
	"packet":   func([]string) string { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
	"audit":    func([]string) string { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT) },
	"route":    func([]string) string { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE) },
	"mptcp":    func([]string) string { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) },
	"unixpair": func([]string) string { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return name(err) },
	"rename":   func(args []string) string { return name(os.Rename(args[0], args[1])) },
	"unixgram": func([]string) string { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return name(err) },
	"sti": func([]string) string {
		b := byte('x')
		// The high half of the argument is not looked at by the kernel, and must not be by the filter.
		return raw(unix.SYS_IOCTL, 0, ioctlSTI|1<<32, uintptr(unsafe.Pointer(&b)))
	},
	"killinit": func([]string) string { return name(unix.Kill(1, unix.SIGKILL)) },
}

func closed(c interface{ Close() error }, err error) string {
	if err == nil {
		_ = c.Close()
	}
	return name(err)
}

// playCore is a core that starts a command and is then killed: args are init, scratch, workspace, marker.
func playCore(args []string) int {
	b := New(Options{Sink: &records{}, Init: args[0], Scratch: args[1]})
	e, err := capability.Intersect(b.Request(capability.WorkspaceWrite, []string{args[2]}, args[2]))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	root, err := pathid.OpenRoot(pathid.OS(), args[2])
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, err = b.Start(context.Background(), Spec{
		Call: "call", Session: "session", Class: capability.ClassShell, Effective: e, CwdIdentity: root.Identity,
		Script: "(exec -a " + args[3] + " sleep 1000) & exec -a " + args[3] + " sleep 1000",
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for len(processesNamed(args[3])) < 2 {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("running")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

// processesMentioning lists the processes whose command line holds the text: bubblewrap's names every mount.
func processesMentioning(text string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), text) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/cmdline", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processesNamed lists the processes whose command line begins with the name.
func processesNamed(marker string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !slices.Equal([]byte(marker), text[:min(len(text), len(marker))]) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/cmdline", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
