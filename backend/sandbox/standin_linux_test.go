package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStandIns(t *testing.T) {
	r := newRig(t)
	standIns := &r.broker.sys.standIns
	want := func(when string, names ...string) {
		t.Helper()
		if got := strings.Join(r.workspaceEntries(), " "); got != strings.Join(names, " ") {
			t.Errorf("%s: %s", when, got)
		}
	}
	at := func(name string) string { return filepath.Join(r.workspace, name) }
	guards := []guard{{Path: at("dir"), Dir: true, Missing: true}, {Path: at("file"), Missing: true}}
	first, _, err := standIns.hold(guards)
	if err != nil {
		t.Fatal(err)
	}
	want("held", "dir", "file")
	// Another core finds them there, and relies on them.
	other := &standIns2{t: t, dir: filepath.Join(privateDir(t))}
	second := other.hold([]guard{{Path: at("dir"), Dir: true}, {Path: at("file")}})
	standIns.release(first)
	want("still used by another core", "dir", "file")
	other.release(second)
	third, _, err := standIns.hold([]guard{{Path: at("elsewhere"), Dir: true, Missing: true}})
	if err != nil {
		t.Fatal(err)
	}
	standIns.release(third)
	want("nobody uses them")

	// What got content meanwhile is somebody's.
	if first, _, err = standIns.hold(guards); err != nil {
		t.Fatal(err)
	}
	r.write("dir/settings.json", "{}")
	r.write("file", "{}")
	standIns.release(first)
	want("content", "dir", "file")

	// What was there before, empty or not, is not ours.
	if err := os.RemoveAll(at("dir")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if first, _, err = standIns.hold([]guard{{Path: at("dir"), Dir: true}}); err != nil {
		t.Fatal(err)
	}
	standIns.release(first)
	want("not ours", "dir", "file")

	// A directory that we may not write is left out of the plan.
	if os.Geteuid() != 0 {
		if err := os.Chmod(r.workspace, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(r.workspace, 0o755)
		_, kept, err := standIns.hold([]guard{{Path: at("new"), Dir: true, Missing: true}})
		if err != nil || len(kept) != 0 {
			t.Errorf("%v %v", kept, err)
		}
	}
}

type standIns2 struct {
	t   *testing.T
	dir string
	s   standIns
}

func (o *standIns2) hold(guards []guard) *held {
	o.t.Helper()
	if err := o.s.adopt(o.dir); err != nil {
		o.t.Fatal(err)
	}
	h, _, err := o.s.hold(guards)
	if err != nil {
		o.t.Fatal(err)
	}
	return h
}

func (o *standIns2) release(h *held) {
	o.s.release(h)
	o.s.close()
}

func TestCommandsShareAWorkspace(t *testing.T) {
	r := newRig(t)
	errs := make(chan string, 6)
	for i := range cap(errs) {
		go func() {
			out, end, err := r.try(context.Background(), r.spec(fmt.Sprintf("for i in 1 2 3; do echo x > .mcp.json; mkdir .claude/x; echo x > .git/HEAD; done 2>/dev/null; sleep 0.%d; ls -A .claude .git; ls -A .git | wc -l", i)))
			if err != nil || out != ".claude:\n\n.git:\n0\n" || status(end) != 0 {
				errs <- fmt.Sprint(out, end, err)
				return
			}
			errs <- ""
		}()
	}
	for range cap(errs) {
		if e := <-errs; e != "" {
			t.Error(e)
		}
	}
	if got := r.workspaceEntries(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}
