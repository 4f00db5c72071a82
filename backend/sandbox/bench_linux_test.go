package sandbox

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"countersign/backend/capability"
)

// BenchmarkStart runs /bin/true plain, in bubblewrap alone and in the broker, in turn within one run, so that the noise
// of the machine falls on all three alike. The medians are what it reports.
func BenchmarkStart(b *testing.B) {
	r := newRig(b)
	spec := r.spec("")
	spec.Argv = []string{"/bin/true"}
	bwrap := r.broker.sys.bubblewrap()
	alone := []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
		"--symlink", "usr/lib64", "/lib64", "--bind", r.workspace, r.workspace, "--chdir", r.workspace, "/bin/true",
	}
	kinds := []struct {
		name string
		run  func() error
	}{
		{"plain", func() error { return exec.Command("/bin/true").Run() }},
		{"bubblewrap", func() error { return exec.Command(bwrap, alone...).Run() }},
		{"broker", func() error {
			p, err := r.broker.Start(b.Context(), spec)
			if err == nil {
				p.Wait()
			}
			return err
		}},
	}
	took := make([][]time.Duration, len(kinds))
	for b.Loop() {
		for i, kind := range kinds {
			start := time.Now()
			if err := kind.run(); err != nil {
				b.Fatalf("%s: %v", kind.name, err)
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	for i, kind := range kinds {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1000, kind.name+"-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPlan is the pure part of a start.
func BenchmarkPlan(b *testing.B) {
	s := surveyOf(capability.WorkspaceWrite)
	for b.Loop() {
		if _, err := planFor(s); err != nil {
			b.Fatal(err)
		}
	}
}
