package sandbox

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNumbersAreThisKernels compares the table with x/sys for the architecture the test runs on. The other column was
// taken from the same source.
func TestNumbersAreThisKernels(t *testing.T) {
	compared := map[string]int{
		"acct": unix.SYS_ACCT, "add_key": unix.SYS_ADD_KEY, "bpf": unix.SYS_BPF, "chroot": unix.SYS_CHROOT,
		"clock_settime": unix.SYS_CLOCK_SETTIME, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3,
		"delete_module": unix.SYS_DELETE_MODULE, "fanotify_init": unix.SYS_FANOTIFY_INIT, "finit_module": unix.SYS_FINIT_MODULE,
		"fsconfig": unix.SYS_FSCONFIG, "fsmount": unix.SYS_FSMOUNT, "fsopen": unix.SYS_FSOPEN, "fspick": unix.SYS_FSPICK,
		"init_module": unix.SYS_INIT_MODULE, "io_uring_enter": unix.SYS_IO_URING_ENTER,
		"io_uring_register": unix.SYS_IO_URING_REGISTER, "io_uring_setup": unix.SYS_IO_URING_SETUP, "ioctl": unix.SYS_IOCTL,
		"kcmp": unix.SYS_KCMP, "kexec_file_load": unix.SYS_KEXEC_FILE_LOAD, "kexec_load": unix.SYS_KEXEC_LOAD,
		"keyctl": unix.SYS_KEYCTL, "lookup_dcookie": unix.SYS_LOOKUP_DCOOKIE, "mount": unix.SYS_MOUNT,
		"mount_setattr": unix.SYS_MOUNT_SETATTR, "move_mount": unix.SYS_MOVE_MOUNT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT,
		"nfsservctl": unix.SYS_NFSSERVCTL, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "open_tree": unix.SYS_OPEN_TREE,
		"open_tree_attr": unix.SYS_OPEN_TREE_ATTR, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
		"pivot_root": unix.SYS_PIVOT_ROOT, "process_madvise": unix.SYS_PROCESS_MADVISE, "process_vm_readv": unix.SYS_PROCESS_VM_READV,
		"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "ptrace": unix.SYS_PTRACE, "quotactl": unix.SYS_QUOTACTL,
		"quotactl_fd": unix.SYS_QUOTACTL_FD, "reboot": unix.SYS_REBOOT, "request_key": unix.SYS_REQUEST_KEY,
		"setdomainname": unix.SYS_SETDOMAINNAME, "sethostname": unix.SYS_SETHOSTNAME, "setns": unix.SYS_SETNS,
		"settimeofday": unix.SYS_SETTIMEOFDAY, "socket": unix.SYS_SOCKET, "socketpair": unix.SYS_SOCKETPAIR,
		"swapoff": unix.SYS_SWAPOFF, "swapon": unix.SYS_SWAPON, "syslog": unix.SYS_SYSLOG, "umount2": unix.SYS_UMOUNT2,
		"unshare": unix.SYS_UNSHARE, "userfaultfd": unix.SYS_USERFAULTFD, "vhangup": unix.SYS_VHANGUP,
	}
	for name, want := range compared {
		if got := syscallNumbers[name][thisMachine.index]; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	for name := range syscallNumbers {
		// These three exist on amd64 only, so x/sys has no name for them that compiles everywhere.
		if _, ok := compared[name]; !ok && !slices.Contains([]string{"iopl", "ioperm", "modify_ldt"}, name) {
			t.Errorf("%s is not compared", name)
		}
	}
}
