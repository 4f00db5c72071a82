package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTerminal(t *testing.T) {
	r := newRig(t)
	master, slave := openTerminal(t)
	defer master.Close()
	defer slave.Close()
	s := r.spec("tty -s && echo terminal; trap 'stty size; exit 4' WINCH; echo ready; : > /dev/tty && echo own; while :; do sleep 0.02; done")
	s.Stdin, s.Stdout, s.Stderr = slave, slave, slave
	p, err := r.broker.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(seen.String(), "own") {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatalf("%q %v", seen.String(), err)
		}
		seen.Write(buf[:n])
	}
	if err := p.Resize(33, 77); err != nil {
		t.Fatal(err)
	}
	end := p.Wait()
	n, _ := master.Read(buf)
	seen.Write(buf[:n])
	if got := seen.String(); !strings.Contains(got, "terminal") || !strings.Contains(got, "33 77") || status(end) != 4 {
		t.Errorf("%q %+v", got, end)
	}
	if err := r.resizeWithoutTerminal(); err != nil {
		t.Error(err)
	}
}

func (r *rig) resizeWithoutTerminal() error {
	p, err := r.broker.Start(r.t.Context(), r.spec("sleep 0.1"))
	if err != nil {
		return err
	}
	defer p.Wait()
	return p.Resize(1, 1)
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	var n int
	err = withDescriptor(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	return master, slave
}
