// Recorder stands in for every program in the box of the differential test (differential_box_test.go). Under the name of a
// program it notes that it was run; for the programs that run others, or that write files, it then becomes the real one.
// As the first process of the box it runs one command line after the other.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	logFile  = "/log"
	realBin  = "/real/bin/"
	home     = "/home/u"
	work     = "/home/u/w"
	lineTime = 3 * time.Second
	lineMost = 250 // processes at once
)

// become are the programs that go on as the real ones: those that run what they are given, and a few that write what they
// are given.
var become = map[string]bool{
	"env": true, "xargs": true, "find": true, "timeout": true, "nice": true, "nohup": true, "stdbuf": true, "setsid": true,
	"time": true, "ionice": true, "chrt": true, "taskset": true, "setarch": true, "flock": true, "prlimit": true,
	"sh": true, "dash": true, "bash": true, "script": true, "strace": true, "cat": true, "printf": true,
	"tee": true, "touch": true, "cp": true, "sort": true, "dd": true, "sed": true, "truncate": true,
}

func main() {
	if os.Getpid() == 1 {
		drive()
		return
	}
	name := filepath.Base(runAs())
	if name == "missing" && len(os.Args) > 1 { // bash found no program of this name
		note(os.Args[1], os.Args[1:])
		return
	}
	note(name, os.Args)
	if become[name] {
		_ = syscall.Exec(realBin+name, os.Args, os.Environ())
	}
	if rest := emulated(name, os.Args[1:]); len(rest) > 0 {
		path := rest[0]
		if !strings.Contains(path, "/") {
			path = "/usr/bin/" + path
		}
		_ = syscall.Exec(path, rest, os.Environ())
	}
}

// runAs is the path that this process was started by, whatever its first argument says (exec -a). See AT_EXECFN in
// getauxval(3).
func runAs() string {
	const execFn = 31
	aux, err := os.ReadFile("/proc/self/auxv")
	for ; err == nil && len(aux) >= 16; aux = aux[16:] {
		if binary.NativeEndian.Uint64(aux) != execFn {
			continue
		}
		address := uintptr(binary.NativeEndian.Uint64(aux[8:]))
		text := *(**byte)(unsafe.Pointer(&address))
		var out []byte
		for p := unsafe.Pointer(text); *(*byte)(p) != 0; p = unsafe.Add(p, 1) {
			out = append(out, *(*byte)(p))
		}
		return string(out)
	}
	return os.Args[0]
}

// note appends one record in a single write: the number of fields, then each with a NUL behind it.
func note(name string, args []string) {
	record := strconv.Itoa(len(args)+1) + "\x00" + name + "\x00"
	for _, a := range args {
		record += a + "\x00"
	}
	fd, err := syscall.Open(logFile, syscall.O_WRONLY|syscall.O_APPEND, 0)
	if err != nil {
		os.Exit(125)
	}
	_, _ = syscall.Write(fd, []byte(record))
	_ = syscall.Close(fd)
}

// emulated returns what programs that are rarely installed would run.
func emulated(name string, args []string) []string {
	values := map[string]string{"sudo": "CDghpRrTtUu", "doas": "aCu", "busybox": "", "toybox": ""}
	with, ok := values[name]
	if !ok {
		return nil
	}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		if arg[1] == '-' {
			if (arg == "--user" || arg == "--group" || arg == "--chdir") && len(args) > 0 {
				args = args[1:]
			}
			continue
		}
		if i := strings.IndexAny(arg, with); with != "" && i == len(arg)-1 && len(args) > 0 {
			args = args[1:]
		}
	}
	for name == "sudo" && len(args) > 0 && strings.Contains(args[0], "=") {
		args = args[1:]
	}
	return args
}

// environment is full of what a text must not evaluate.
var environment = []string{
	"PATH=/usr/bin", "HOME=" + home, "USER=u", "LANG=C.UTF-8", "PWD=" + work,
	"V=evil", "N=q[$(evil)]", "O=-exec evil ;", "E=", "P=V",
	"BASH_FUNC_command_not_found_handle%%=() { /usr/bin/missing \"$@\"; }",
}

func drive() {
	for limit, most := range map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: 16 << 20, 6 /* RLIMIT_NPROC */ : 2 * lineMost} {
		_ = syscall.Setrlimit(limit, &syscall.Rlimit{Cur: most, Max: most})
	}
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	must(err)
	must(os.MkdirAll("/tmp", 0o777))
	must(os.MkdirAll("/etc", 0o755))
	must(os.WriteFile("/etc/passwd", []byte("root:x:0:0::/root:/bin/sh\nu:x:1000:1000::"+home+":/bin/sh\n"), 0o644))
	must(os.WriteFile(logFile, nil, 0o666))
	before := fill()
	in := bufio.NewReader(os.Stdin)
	for {
		var size uint32
		if binary.Read(in, binary.LittleEndian, &size) != nil {
			return
		}
		line := make([]byte, size)
		_, err := io.ReadFull(in, line)
		must(err)
		late := run(string(line), null.Fd())
		ran, err := os.ReadFile(logFile)
		must(err)
		must(os.Truncate(logFile, 0))
		var out bytes.Buffer
		if late {
			out.WriteByte(1)
		} else {
			out.WriteByte(0)
		}
		after := state()
		changed := ""
		for path, now := range after {
			if before[path] != now {
				changed += path + "\x00"
			}
		}
		if changed != "" || len(after) != len(before) {
			before = fill()
		}
		_ = binary.Write(&out, binary.LittleEndian, uint32(len(changed)))
		out.WriteString(changed)
		out.Write(ran)
		_ = binary.Write(os.Stdout, binary.LittleEndian, uint32(out.Len()))
		_, err = os.Stdout.Write(out.Bytes())
		must(err)
	}
}

// run runs one line and everything it leaves behind, and reports whether it had to be stopped.
func run(line string, null uintptr) (late bool) {
	_, err := syscall.ForkExec(realBin+"bash", []string{"bash", "-c", line}, &syscall.ProcAttr{
		Dir: work, Env: environment, Files: []uintptr{null, null, null},
	})
	must(err)
	done, stopped := make(chan struct{}), make(chan bool)
	go func() { // a first process is not killed by its own kill(-1)
		killed := false
		end := time.After(lineTime)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				stopped <- killed
				return
			case <-end:
				killed = true
				_ = syscall.Kill(-1, syscall.SIGKILL)
				end = time.After(lineTime)
			case <-tick.C:
				if names, err := os.ReadDir("/proc"); err == nil && len(names) > lineMost {
					killed = true
					_ = syscall.Kill(-1, syscall.SIGKILL)
				}
			}
		}
	}()
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			break
		}
	}
	close(done)
	return <-stopped
}

// fill makes the same few files again and returns the state with them.
func fill() map[string]string {
	for _, dir := range []string{home, "/tmp"} {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(path, 0o777)
			}
			return nil
		})
		must(os.RemoveAll(dir))
	}
	must(os.MkdirAll("/tmp", 0o777))
	must(os.MkdirAll(work+"/sub", 0o777))
	for _, name := range []string{"a.txt", "b.txt", "rm", "zz", "sub/c.txt"} {
		must(os.WriteFile(work+"/"+name, []byte("text\n"), 0o666))
	}
	must(os.WriteFile(work+"/script", []byte("scripted\n"), 0o666))
	must(os.Symlink("sub/c.txt", work+"/link"))
	must(os.Symlink("/usr/bin/recorder", work+"/run"))
	return state()
}

func state() map[string]string {
	out := map[string]string{}
	look := func(path string) {
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			st := info.Sys().(*syscall.Stat_t)
			out[path] = strconv.FormatInt(info.Size(), 10) + " " + strconv.FormatInt(info.ModTime().UnixNano(), 10) + " " +
				strconv.FormatUint(st.Ino, 10)
		}
	}
	for _, dir := range []string{home, "/tmp"} {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil {
				look(path)
			}
			return nil
		})
	}
	names, _ := os.ReadDir("/")
	for _, d := range names {
		if d.Name() != "log" {
			look("/" + d.Name())
		}
	}
	return out
}

func must(err error) {
	if err != nil {
		_, _ = os.Stderr.WriteString("recorder: " + err.Error() + "\n")
		os.Exit(1)
	}
}
