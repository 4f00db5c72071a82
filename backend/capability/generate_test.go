package capability

import (
	"time"

	"pgregory.net/rapid"
)

// The generators draw from small alphabets, so that roots, names and targets meet often.

var genRoot = rapid.Custom(func(t *rapid.T) string {
	if rapid.IntRange(0, 15).Draw(t, "drive") == 0 {
		return rapid.SampledFrom([]string{`C:\w`, `C:\W\a`, `D:\`, `C:\w\a.b`}).Draw(t, "windows root")
	}
	path := ""
	for range rapid.IntRange(0, 3).Draw(t, "depth") {
		path += "/" + rapid.SampledFrom([]string{"a", "b", "ab", "B"}).Draw(t, "part")
	}
	if path == "" {
		path = "/"
	}
	return path
})

func genRoots(max int) *rapid.Generator[[]string] { return rapid.SliceOfN(genRoot, 0, max) }

var genTarget = rapid.Custom(func(t *rapid.T) string {
	host := rapid.SampledFrom([]string{
		"example.org", "*.example.org", "api.example.org", "*.api.example.org", "x.api.example.org", "Example.ORG.",
		"127.0.0.1", "[::1]", "[0:0::1]", "localhost", "other.net",
	}).Draw(t, "host")
	return host + rapid.SampledFrom([]string{"", ":443", ":80"}).Draw(t, "port")
})

var genLimits = rapid.Custom(func(t *rapid.T) Limits {
	n := func(name string) uint64 { return rapid.Uint64Range(0, 3).Draw(t, name) }
	return Limits{
		WallClock: time.Duration(n("wall")), CPUSeconds: n("cpu"), MemoryBytes: n("memory"), FileBytes: n("file"),
		Processes: n("processes"), OpenFiles: n("open"), OutputBytes: n("output"),
	}
})

var genRequest = rapid.Custom(func(t *rapid.T) Request {
	return Request{
		Class:         rapid.SampledFrom([]ProcessClass{ClassShell, ClassAgent, ClassGate, ClassMCP, ClassIntegration}).Draw(t, "class"),
		Policy:        rapid.SampledFrom([]SandboxPolicy{ReadOnly, WorkspaceWrite, DangerFullAccess}).Draw(t, "policy"),
		Shell:         rapid.Bool().Draw(t, "shell"),
		Cwd:           genRoot.Draw(t, "cwd"),
		ReadRoots:     genRoots(4).Draw(t, "read"),
		WriteRoots:    genRoots(3).Draw(t, "write"),
		MetadataRoots: genRoots(3).Draw(t, "metadata"),
		DeniedRoots:   genRoots(2).Draw(t, "denied"),
		Network:       rapid.SampledFrom([]Network{NetworkOff, NetworkProxied, NetworkOpen}).Draw(t, "network"),
		Targets:       rapid.SliceOfN(genTarget, 0, 4).Draw(t, "targets"),
		Environment:   rapid.SliceOfN(rapid.SampledFrom([]string{"PATH", "LANG", "TERM", "ProgramFiles(x86)"}), 0, 4).Draw(t, "environment"),
		Limits:        genLimits.Draw(t, "limits"),
	}
})

var genCeiling = rapid.Custom(func(t *rapid.T) Ceiling {
	switch rapid.IntRange(0, 5).Draw(t, "ceiling") {
	case 0:
		return FullCeiling()
	case 1:
		return ReadOnlyCeiling()
	case 2:
		c, err := PolicyCeiling(rapid.SampledFrom([]SandboxPolicy{ReadOnly, WorkspaceWrite, DangerFullAccess}).Draw(t, "policy ceiling"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	case 3:
		c, err := DenyCeiling(genRoots(3).Draw(t, "denied ceiling"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c, err := CeilingFrom(genRequest.Draw(t, "ceiling request"))
	if err != nil {
		t.Fatal(err)
	}
	return c
})

// atRoot moves the working directory where an intersection seldom loses it, so that the properties look at results.
func atRoot(req Request) Request {
	if len(req.ReadRoots) > 0 {
		req.Cwd = req.ReadRoots[0]
	}
	return req
}

var paths = []string{
	"/", "/a", "/b", "/ab", "/B", "/a/a", "/a/b", "/a/ab", "/a/b/b", "/a/b/c", "/b/a/x", `C:\w`, `C:\w\a\x`, `D:\x`, "/zz",
}
