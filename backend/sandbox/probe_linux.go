package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"countersign/backend/capability"
)

const (
	backendName = "bubblewrap+landlock+seccomp"
	// refusalKept is how long a negative probe is believed.
	refusalKept = 5 * time.Second
	// probeLimit bounds one probe.
	probeLimit = 15 * time.Second
)

var bubblewrapPlaces = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

// demanded names every protection of the profile with its remedy, in the order they are shown.
var demanded = []struct{ name, fix string }{
	{"namespaces", fixUserns}, {"mounts", fixContainer}, {"landlock", fixLandlock}, {"network", fixUserns},
	{"seccomp", fixSeccomp}, {"no_new_privs", fixSeccomp}, {"capabilities", fixUserns},
}

// probe returns the kept answer or makes a new one. What the answer depends on is looked at every time: five stat calls.
func (s *system) probe(ctx context.Context) Report {
	s.probing.Lock()
	defer s.probing.Unlock()
	bwrap := s.bubblewrap()
	key := strings.Join([]string{bootID(), fmt.Sprint(os.Geteuid()), fileKey(bwrap), fileKey(s.b.o.Init), s.b.o.Scratch}, "\n")
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	if known != nil && known.key == key &&
		(known.report.Enforcement == capability.Enforced || time.Since(known.at) < refusalKept) {
		return known.report
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	report, t := s.measure(ctx, bwrap)
	if ctx.Err() != nil && report.Enforcement != capability.Enforced {
		return report // interrupted: says nothing about the machine
	}
	s.mu.Lock()
	// The old tools' open program is left to the collector: a start under way may be about to hand it over.
	s.known = &probed{key: key, at: time.Now(), report: report, tools: t}
	s.mu.Unlock()
	return report
}

func (s *system) bubblewrap() string {
	if s.b.o.Bubblewrap != "" {
		return s.b.o.Bubblewrap
	}
	for _, path := range bubblewrapPlaces {
		if unix.Access(path, unix.X_OK) == nil {
			return path
		}
	}
	return ""
}

func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(id))
}

// measure makes one real boundary and looks at what the process in it reports.
func (s *system) measure(ctx context.Context, bwrap string) (Report, *tools) {
	lack := func(name, detail, fix string) (Report, *tools) {
		r := Report{Enforcement: capability.Unavailable, Backend: backendName}
		found := false
		for _, d := range demanded {
			p := Protection{Name: d.name, Detail: "not shown: the probe ended before", Fix: d.fix}
			if d.name == name {
				p.Detail, p.Fix, found = detail, fix, true
			}
			r.Protections = append(r.Protections, p)
		}
		// The one that failed is the first to be told.
		for i, p := range r.Protections {
			if p.Name == name {
				copy(r.Protections[1:i+1], r.Protections[:i])
				r.Protections[0] = p
			}
		}
		if !found {
			r.Protections = append([]Protection{{Name: name, Detail: detail, Fix: fix}}, r.Protections...)
		}
		return r, nil
	}
	if bwrap == "" {
		return lack("namespaces", "bubblewrap is not installed", fixBubblewrap)
	}
	version, err := bubblewrapVersion(ctx, bwrap)
	if err != nil {
		return lack("namespaces", fmt.Sprintf("%s --version: %v", bwrap, err), fixBubblewrap)
	}
	abi := landlockABI()
	if abi < 1 {
		return lack("landlock", "this kernel has no Landlock, or it is switched off", fixLandlock)
	}
	if err := s.scratch(); err != nil {
		return lack("boundary", err.Error(), fixScratch)
	}
	program, digest, err := openInit(s.b.o.Init)
	if err != nil {
		return lack("boundary", err.Error(), fixInit)
	}
	t := &tools{bubblewrap: bwrap, program: program, abi: abi, handled: rightsOf(abi), filter: seccompFor(thisMachine)}
	give := func(r Report, _ *tools) (Report, *tools) {
		_ = program.Close()
		return r, nil
	}
	if t.outside, err = ownNamespaces(); err != nil {
		return give(lack("namespaces", err.Error(), fixHardened))
	}
	var read []string
	for _, root := range systemRoots {
		if info, err := os.Lstat(root); err == nil && info.IsDir() {
			read = append(read, root)
		}
	}
	look, err := s.survey(capability.Snapshot{Request: capability.Request{Policy: capability.ReadOnly, ReadRoots: read, Cwd: "/tmp"}},
		filepath.Join(s.b.o.Scratch, "probe"), "", abi)
	if err != nil {
		return give(lack("mounts", err.Error(), fixUnknown))
	}
	p, err := planFor(look)
	if err != nil {
		return give(lack("mounts", err.Error(), fixUnknown))
	}
	b, err := launch(ctx, &s.owners, t, p, message{Path: "/", Argv: []string{"probe"}, Cwd: "/tmp", Limits: limitsOf(capability.Limits{})}, [3]*os.File{})
	if err != nil {
		var early *bubblewrapError
		var step *StartError
		name, fix := "boundary", fixUnknown
		switch {
		case errors.As(err, &early):
			name, fix = explainBubblewrap(early.text)
		case errors.As(err, &step):
			name, fix = explainStep(step.Step)
		}
		return give(lack(name, err.Error(), fix))
	}
	b.discard()
	r := Report{
		Enforcement: capability.Enforced, Backend: backendName,
		Version: fmt.Sprintf("%s, Landlock ABI %d, Linux %s, init %.12s", version, abi, kernelRelease(), digest),
	}
	for i, l := range (demand{Outside: t.outside, Handled: t.handled}).layers(b.report) {
		protection := Protection{Name: l.Name, OK: l.OK, Detail: l.Detail}
		if !l.OK {
			r.Enforcement, protection.Fix = capability.Unavailable, demanded[i].fix
		}
		r.Protections = append(r.Protections, protection)
	}
	if r.Enforcement != capability.Enforced {
		return give(r, nil)
	}
	return r, t
}

func bubblewrapVersion(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.Dir = []string{}, "/"
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out[:min(len(out), 100)])), nil
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}
