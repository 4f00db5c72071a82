//go:build never

package fixture

import (
	"os"
	renamed "os"
	"os/exec" // want import of os/exec
	"plugin"  // want import of plugin
	"syscall"
	_ "unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	. "golang.org/x/sys/unix" // want dot import
	"mvdan.cc/sh/v3/interp"   // want runs shell text
	"mvdan.cc/sh/v3/syntax"
)

//go:linkname forkExec syscall.forkExec // want linkname
func forkExec()

func starts() {
	exec.Command("true")
	os.StartProcess("", nil, nil)      // want os.StartProcess
	renamed.StartProcess("", nil, nil) // want os.StartProcess
	start := os.StartProcess           // want os.StartProcess
	syscall.ForkExec("", nil, nil)     // want syscall.ForkExec
	syscall.Exec("", nil, nil)         // want syscall.Exec
	syscall.StartProcess("", nil, nil) // want syscall.StartProcess
	unix.Exec("", nil, nil)            // want unix.Exec
	pty.Start(nil)                     // want pty.Start

	unix.RawSyscall(unix.SYS_EXECVE, 0, 0, 0) // want SYS_EXECVE
	unix.Syscall6(unix.SYS_CLONE3, 0, 0, 0)   // want SYS_CLONE3
	syscall.RawSyscall(59, 0, 0, 0)           // want without a SYS_ constant
	raw := syscall.RawSyscall                 // want without a SYS_ constant
	syscall.Syscall(number, 0, 0, 0)          // want without a SYS_ constant
	interp.New()
	plugin.Open("")
	_, _ = start, raw
}

func harmless() {
	os.Open("StartProcess")
	unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 0, 0)
	syscall.Kill(1, 0)
	pty.Open()
	syntax.NewParser()
	// exec.Command, os.StartProcess and CreateProcessW in a comment are only words.
}
