package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/backend/capability"
)

func TestBackgroundJobsEndWithTheCall(t *testing.T) {
	r := newRig(t)
	marker := "countersign-job-" + filepath.Base(filepath.Dir(r.workspace)) + fmt.Sprint(os.Getpid())
	start := time.Now()
	_, end := r.run(r.spec(fmt.Sprintf("for i in 1 2 3; do setsid -f bash -c 'exec -a %s sleep 1000'; done; nohup sleep 1000 & sleep 0.1; exit 5", marker)))
	if status(end) != 5 || time.Since(start) > 20*time.Second {
		t.Errorf("%d after %v", status(end), time.Since(start))
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestKillEndsTheWholeTree(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(cancel context.CancelCauseFunc, p *Process)
		want string
	}{
		{"cancelled", func(cancel context.CancelCauseFunc, _ *Process) { cancel(nil) }, "cancelled"},
		{"client gone", func(cancel context.CancelCauseFunc, _ *Process) { cancel(CauseClientGone) }, "client_gone"},
		{"kill signal", func(_ context.CancelCauseFunc, p *Process) { _ = p.Signal(os.Kill) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			marker := "countersign-tree-" + strings.ReplaceAll(c.name, " ", "-") + fmt.Sprint(os.Getpid())
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p, err := r.broker.Start(ctx, r.spec(fmt.Sprintf("trap '' TERM INT HUP; setsid bash -c 'exec -a %s sleep 1000' & (exec -a %s sleep 1000) & wait", marker, marker)))
			if err != nil {
				t.Fatal(err)
			}
			for len(processesNamed(marker)) < 2 {
				time.Sleep(time.Millisecond)
			}
			c.end(cancel, p)
			end := p.Wait()
			if end.Exit != nil || end.Signal != "SIGKILL" || end.Cause != c.want {
				t.Errorf("%+v", end)
			}
			if left := processesNamed(marker); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if err := p.Signal(os.Interrupt); !errors.Is(err, ErrEnded) {
				t.Error(err)
			}
			all := r.sink.all()
			if len(all) != 2 || all[1].Cause != c.want || all[1].Start != all[0].ID || all[1].Signal != "SIGKILL" {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestKillByWallClock(t *testing.T) {
	r := newRig(t)
	r.change = func(req *capability.Request) { req.Limits.WallClock = 300 * time.Millisecond }
	_, end := r.run(r.spec("sleep 1000"))
	if end.Cause != "wall_clock" || end.Signal != "SIGKILL" {
		t.Errorf("%+v", end)
	}
}

type cancelling struct {
	records
	cancel context.CancelCauseFunc
}

func (c *cancelling) Append(r capability.Record) (string, error) {
	c.cancel(CauseClientGone)
	return c.records.Append(r)
}

func TestCancelledBeforeGo(t *testing.T) {
	r := newRig(t)
	spec := r.spec("touch ran")
	ctx, cancel := context.WithCancelCause(t.Context())
	sink := &cancelling{cancel: cancel}
	r.broken(func(o *Options) { o.Sink = sink })
	if _, _, err := r.try(ctx, spec); !errors.Is(err, CauseClientGone) {
		t.Errorf("%v", err)
	}
	all := sink.all()
	if len(all) != 2 || all[1].Cause != "client_gone" || all[1].Signal != "" || all[1].ExitStatus != nil {
		t.Errorf("%+v", all)
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestCancelAtEveryMoment(t *testing.T) {
	r := newRig(t)
	marker := fmt.Sprintf("countersign-moment-%d", os.Getpid())
	for i := range 24 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*1500*time.Microsecond)
		p, err := r.broker.Start(ctx, r.spec("exec -a "+marker+" sleep 1000"))
		if err == nil {
			if end := p.Wait(); end.Cause != "cancelled" {
				t.Errorf("%+v", end)
			}
		}
		cancel()
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	r.broker.sys.owners.Wait()
	for deadline := time.Now().Add(5 * time.Second); len(processesMentioning(r.workspace)) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if left := processesMentioning(r.workspace); len(left) > 0 {
		t.Errorf("bubblewrap left: %v", left)
	}
	ends := 0
	for _, rec := range r.sink.all() {
		if rec.Kind == capability.RecordEnd {
			ends++
		}
	}
	if 2*ends != len(r.sink.all()) {
		t.Errorf("%d records, %d ends", len(r.sink.all()), ends)
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("left in the workspace: %v", got)
	}
}

func TestCoreKilled(t *testing.T) {
	r := newRig(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	marker := fmt.Sprintf("countersign-core-%d", os.Getpid())
	scratch := privateDir(t)
	core := exec.Command(self, "play", "core", r.broker.o.Init, scratch, r.workspace, marker)
	out, err := core.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := core.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := core.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
		t.Fatalf("%q %v", line, err)
	}
	if err := core.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = core.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for len(processesNamed(marker)) > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if len(r.workspaceEntries()) == 0 {
		t.Error("nothing was left: this test shows nothing")
	}
	next := New(Options{Sink: r.sink, Init: r.broker.o.Init, Scratch: scratch})
	defer next.Close()
	next.Probe(t.Context())
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

func TestStartsFromManyThreads(t *testing.T) {
	r := newRig(t)
	const count = 12
	ends := make(chan End, count)
	for range count {
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
			p, err := r.broker.Start(context.Background(), r.spec("sleep 0.3; exit 9"))
			if err != nil {
				ends <- End{Err: err}
				return
			}
			go func() { ends <- p.Wait() }()
		}()
	}
	for range count {
		if end := <-ends; status(end) != 9 || end.Err != nil {
			t.Errorf("%+v", end)
		}
	}
}
