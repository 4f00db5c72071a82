package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/capability"
)

// surveyOf is a usual command's survey on a usual machine.
func surveyOf(policy capability.SandboxPolicy) survey {
	s := survey{
		Policy: policy,
		Read:   []place{{"/etc", true}, {"/usr", true}, {"/w/project", true}, {"/opt/node", true}},
		Denied: []place{{"/etc/shadow", false}, {"/etc/ssl/private", true}, {"/s/scratch", true}},
		Links:  [][2]string{{"/bin", "usr/bin"}, {"/lib", "usr/lib"}},
		Cwd:    "/w/project",
		Home:   "/s/scratch/sessions/1/home", Tmp: "/s/scratch/sessions/1/tmp",
		EmptyDir: "/s/scratch/stand-in/empty", EmptyFile: "/s/scratch/stand-in/file", DeniedDir: "/s/scratch/stand-in/denied",
		ABI: 7, Homes: []string{"/home/user"},
	}
	if policy == capability.ReadOnly {
		s.Tmp = ""
		return s
	}
	s.Write = []place{{"/w/project", true}}
	s.Guards = []guard{
		{Path: "/w/project/.git/config", Ancestors: []string{"/w/project/.git"}},
		{Path: "/w/project/.git/hooks", Dir: true, Ancestors: []string{"/w/project/.git"}},
		{Path: "/w/project/a/b/.git/config", Ancestors: []string{"/w/project/a", "/w/project/a/b", "/w/project/a/b/.git"}, Passing: true},
		{Path: "/w/project/.claude", Dir: true, Missing: true},
		{Path: "/w/project/.mcp.json", Missing: true},
		{Path: "/w/project/.codex", Link: "config/codex", Target: "/w/project/config/codex"},
		{Path: "/w/project/.vscode", Link: "/elsewhere"},
	}
	return s
}

func TestPlanGolden(t *testing.T) {
	cases := map[string]survey{
		"workspace-write": surveyOf(capability.WorkspaceWrite),
		"read-only":       surveyOf(capability.ReadOnly),
	}
	s := surveyOf(capability.WorkspaceWrite)
	s.Terminal, s.Root, s.ABI = true, true, 3
	s.Streams = [3]uint64{llReadFile, llWriteFile | llTruncate, 0}
	s.Write = append(s.Write, place{"/w/project/sub", true}, place{"/w/file", false})
	s.Metadata = []place{{"/w", true}}
	s.Denied = append(s.Denied, place{"/w/project/a/b/secret", true}, place{"/w/project/sub/none", true}, place{"/w/project/key", false}, place{"/absent", true})
	s.Read = append(s.Read, place{"/w/project/sub/none/inner", true})
	cases["everything"] = s
	s = surveyOf(capability.WorkspaceWrite)
	s.Write[0].Path, s.Cwd, s.Guards = "/s", "/s", nil // the workspace holds the broker's own directory
	cases["scratch-in-workspace"] = s
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := planFor(s)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, arg := range p.Args {
				if strings.HasPrefix(arg, "--") {
					out.WriteString("\n" + arg)
				} else {
					out.WriteString(" " + arg)
				}
			}
			out.WriteString("\n\nmounted " + p.Mounted + "\n")
			for _, r := range p.Rules {
				text, _ := json.Marshal(r)
				out.Write(append(text, '\n'))
			}
			golden(t, filepath.Join("testdata", "plan", name+".txt"), strings.TrimPrefix(out.String(), "\n"))
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), rewrite with -update:\n%s", file, diff)
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*survey)
		want   error
	}{
		{"everything read", func(s *survey) { s.Read = append(s.Read, place{"/", true}) }, ErrRootTooWide},
		{"proc", func(s *survey) { s.Read = append(s.Read, place{"/proc/1", true}) }, ErrRootTooWide},
		{"host sockets", func(s *survey) { s.Read = append(s.Read, place{"/run/user/0", true}) }, ErrRootTooWide},
		{"home", func(s *survey) { s.Write[0].Path = "/home/user" }, ErrRootTooWide},
		{"above home", func(s *survey) { s.Metadata = []place{{"/home", true}} }, ErrRootTooWide},
		{"system written", func(s *survey) { s.Write[0].Path = "/usr/src" }, ErrRootTooWide},
		{"tmp written", func(s *survey) { s.Write[0].Path = "/tmp" }, ErrRootTooWide},
		{"metadata in tmp", func(s *survey) { s.Metadata = []place{{"/tmp/x", true}} }, ErrRootTooWide},
		{"denied cwd", func(s *survey) { s.Denied = append(s.Denied, place{"/w", true}) }, ErrDenied},
		{"our own written", func(s *survey) { s.Guarded = []string{"/w"} }, ErrRootTooWide},
		{"nothing of the system", func(s *survey) { s.Read = nil }, ErrSpec},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := surveyOf(capability.WorkspaceWrite)
			c.change(&s)
			if _, err := planFor(s); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	s := surveyOf(capability.WorkspaceWrite)
	s.Write[0].Path, s.Cwd = "/home/user/project", "/home/user/project"
	if _, err := planFor(s); err != nil {
		t.Errorf("a project in the home directory: %v", err)
	}
}

// TestPlanNeverOpensWhatIsDenied walks the mounts of generated surveys as the kernel would see them.
func TestPlanNeverOpensWhatIsDenied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.Custom(func(t *rapid.T) string {
			return "/w/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4).Draw(t, "parts"), "/")
		})
		paths := rapid.SliceOfN(path, 0, 4)
		some := func(name string) (list []place) {
			for _, p := range paths.Draw(t, name) {
				list = append(list, place{p, true})
			}
			return list
		}
		s := surveyOf(capability.WorkspaceWrite)
		s.Cwd = "/w"
		s.Read, s.Write, s.Denied, s.Metadata, s.Guards = append(some("read"), place{"/usr", true}), some("write"), some("denied"), some("metadata"), nil
		for _, g := range paths.Draw(t, "guards") {
			if slices.ContainsFunc(s.Write, func(w place) bool { return w.Path != g && within(w.Path, g) }) { // where the survey looks for them
				s.Guards = append(s.Guards, guard{Path: g, Dir: true})
			}
		}
		p, err := planFor(s)
		if err != nil {
			t.Fatal(err)
		}
		at := path.Draw(t, "looked at")
		op := topMount(p.Args, at)
		for _, d := range s.Denied {
			if within(d.Path, at) && op != "" && op != s.DeniedDir {
				t.Fatalf("%s lies in the denied %s and shows %s", at, d.Path, op)
			}
		}
		writable := false
		for _, w := range s.Write {
			writable = writable || within(w.Path, at)
		}
		for _, g := range s.Guards {
			writable = writable && !within(g.Path, at)
		}
		if !writable && topOp(p.Args, at) == "--bind" {
			t.Fatalf("%s is writable", at)
		}
	})
}

// topMount returns the source of what is mounted at or above the path, mounts applied in order.
func topMount(args []string, at string) string {
	source := ""
	for i, arg := range args {
		if (arg == "--bind" || arg == "--ro-bind") && within(args[i+2], at) {
			source = args[i+1]
		}
	}
	return source
}

func topOp(args []string, at string) string {
	op := ""
	for i, arg := range args {
		if (arg == "--bind" || arg == "--ro-bind") && within(args[i+2], at) {
			op = arg
		}
	}
	return op
}
