package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"countersign/backend/capability"
)

// broken gives the rig a broker whose machine lacks something.

func (r *rig) broken(change func(*Options)) {
	o := r.broker.o
	o.Scratch = privateDir(r.t)
	change(&o)
	r.broker = New(o)
	r.t.Cleanup(func() { _ = r.broker.Close() })
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhatIsMissingIsNamed: nothing starts, and the owner reads which protection is missing and what to do.

func TestWhatIsMissingIsNamed(t *testing.T) {
	version := "[ \"$1\" = --version ] && { echo bubblewrap 9; exit 0; }\n"
	for _, c := range []struct {
		name       string
		change     func(*Options)
		protection string
		fix        string
	}{
		{"no bubblewrap", func(o *Options) { o.Bubblewrap = "/no/such/bwrap" }, "namespaces", fixBubblewrap},
		{"no user namespaces", func(o *Options) {
			o.Bubblewrap = script(t, version+"echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1")
		}, "namespaces", fixUserns},
		{"proc masked", func(o *Options) {
			o.Bubblewrap = script(t, version+"echo \"bwrap: Can't mount proc on /newroot/proc\" >&2; exit 1")
		}, "mounts", fixContainer},
		{"a bubblewrap that isolates nothing", func(o *Options) {
			o.Bubblewrap = script(t, version+`while [ "$1" != -- ]; do shift; done; shift; exec "$@"`)
		}, "namespaces", fixBubblewrap},
		{"no init", func(o *Options) { o.Init = "/no/such/init" }, "boundary", fixInit},
		{"relative init", func(o *Options) { o.Init = "init" }, "boundary", fixInit},
		{"init others may write", func(o *Options) {
			path := filepath.Join(privateDir(t), "init")
			if err := errors.Join(copyFile(o.Init, path), os.Chmod(path, 0o777)); err != nil {
				t.Fatal(err)
			}
			o.Init = path
		}, "boundary", fixInit},
		{"an init that is another program", func(o *Options) { o.Init = script(t, "exit 0") }, "mounts", fixUnknown},
		{"scratch others may write", func(o *Options) {
			if err := os.Chmod(o.Scratch, 0o777); err != nil {
				t.Fatal(err)
			}
		}, "boundary", fixScratch},
		{"no scratch", func(o *Options) { o.Scratch = "/no/such/scratch" }, "boundary", fixScratch},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			spec := r.spec("touch ran")
			r.broken(c.change)
			_, _, err := r.try(t.Context(), spec)
			var missing *UnavailableError
			if !errors.As(err, &missing) {
				t.Fatalf("%v", err)
			}
			if c.protection != "" && (missing.Protection != c.protection || missing.Fix != c.fix) {
				t.Errorf("%+v", missing)
			}
			if missing.Detail == "" || missing.Fix == "" {
				t.Errorf("%+v", missing)
			}
			report := r.broker.Probe(t.Context())
			if report.Enforcement != capability.Unavailable {
				t.Errorf("%+v", report)
			}
			if len(r.workspaceEntries()) > 0 || len(r.sink.all()) > 0 {
				t.Errorf("%v %v", r.workspaceEntries(), r.sink.all())
			}
		})
	}
}

// TestProbeNoticesAMendedMachine: a positive answer stands for these binaries in this boot, a negative one does not.

func TestProbeNoticesAMendedMachine(t *testing.T) {
	r := newRig(t)
	init := r.broker.o.Init
	path := filepath.Join(privateDir(t), "init")
	r.broken(func(o *Options) { o.Init = path })
	if got := r.broker.Probe(t.Context()).Enforcement; got != capability.Unavailable {
		t.Fatal(got)
	}
	if err := copyFile(init, path); err != nil {
		t.Fatal(err)
	}
	if got := r.broker.Probe(t.Context()); got.Enforcement != capability.Enforced {
		t.Fatalf("%+v", got)
	}
	start := time.Now()
	for range 100 {
		r.broker.Probe(t.Context())
	}
	if each := time.Since(start) / 100; each > 5*time.Millisecond {
		t.Errorf("a kept answer takes %v", each)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := r.broker.Probe(t.Context()).Enforcement; got != capability.Unavailable {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := copyFile(init, path); err != nil {
		t.Fatal(err)
	}
	if got := r.broker.Probe(ctx).Enforcement; got == capability.Enforced {
		t.Error("an interrupted probe showed everything")
	}
	if got := r.broker.Probe(t.Context()).Enforcement; got != capability.Enforced {
		t.Error("an interrupted probe was kept")
	}
}

func TestWarnStartsPlainAndSaysSo(t *testing.T) {
	r := newRig(t)
	r.write("sub/x", "")
	r.broken(func(o *Options) { o.Bubblewrap, o.OnMissing = "/no/such/bwrap", OnMissingWarn })
	marker := fmt.Sprintf("countersign-plain-%d", os.Getpid())
	for _, c := range []struct {
		script string
		exit   int
		signal string
		dir    string
	}{
		{"echo out; cd sub; exit 7", 7, "", "sub"},
		{"kill -TERM $$", -1, "SIGTERM", "."},
		{"cd sub; bash -c 'echo $BASH_ENV; cd /'", 0, "", "sub"},
	} {
		out, end := r.run(r.spec(c.script))
		if status(end) != c.exit || end.Signal != c.signal || end.Cause != "" || end.Directory != filepath.Join(r.workspace, c.dir) {
			t.Errorf("%s: %q %+v", c.script, out, end)
		}
	}
	for _, rec := range r.sink.all() {
		if rec.Enforcement != capability.Unavailable || rec.Extra["override"] != "on_missing=warn" || rec.Backend != "" {
			t.Errorf("%+v", rec)
		}
		for _, l := range rec.Layers {
			if l.OK {
				t.Errorf("%+v", l)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := r.broker.Start(ctx, r.spec("(exec -a "+marker+" sleep 1000) & exec -a "+marker+" sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	for len(processesNamed(marker)) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel(CauseClientGone)
	if end := p.Wait(); end.Cause != "client_gone" || end.Signal != "SIGKILL" {
		t.Errorf("%+v", end)
	}
	for deadline := time.Now().Add(5 * time.Second); len(processesNamed(marker)) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if left := processesNamed(marker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	s := r.spec("")
	s.Argv = []string{"/no/such/program"}
	var exec *ExecError
	if _, _, err := r.try(t.Context(), s); !errors.As(err, &exec) {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(r.broker.o.Scratch, "plain-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestErrorsReadWell(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&UnavailableError{Protection: "landlock", Detail: "absent", Fix: "do this"}, "sandbox unavailable: landlock: absent (do this)"},
		{&StartError{Step: "landlock rule", Detail: "item 3", Err: os.ErrNotExist}, "start: landlock rule: item 3: file does not exist"},
		{&ExecError{Path: "/x", Err: os.ErrPermission}, "execute /x: permission denied"},
		{CauseClientGone, "client_gone"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// standIns2 is another core's.

// TestCommandsShareAWorkspace: the second command used to take the first one's empty .git for a repository, left what it

// protected in it behind, and could write the rest.
