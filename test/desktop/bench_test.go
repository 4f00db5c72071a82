//go:build window

package desktop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// idleTime is how long a window is watched that nobody uses.
const idleTime = 10 * time.Second

// BenchmarkWindow compares the desk with a window of the library that holds one heading, in the same run: from the start
// until a screen reader finds the page's heading, the memory of all its processes (proportional set size) and the processor
// time while nothing happens. The desk's numbers contain its core, its store and its tray helper.
func BenchmarkWindow(b *testing.B) {
	if missing != "" {
		b.Skip(missing)
	}
	empty := filepath.Join(b.TempDir(), "empty")
	build := exec.Command("go", "build", "-tags", "window,desktop,production,webkit2_41", "-o", empty, "./empty")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the empty window: %v\n%s", err, out)
	}
	bin, err := filepath.Abs("../../bin/countersign-desk")
	if err != nil {
		b.Fatal(err)
	}
	var start, memory [2][]float64
	var idle float64
	for b.Loop() {
		home, err := os.MkdirTemp("", "cs-")
		if err != nil {
			b.Fatal(err)
		}
		for i, program := range []struct{ file, app, heading string }{{bin, windowName, "Nothing is waiting."}, {empty, "dev.countersign.Empty", "Empty"}} {
			cmd := exec.Command(program.file)
			cmd.Env = append(os.Environ(), "COUNTERSIGN_HOME="+home)
			began := time.Now()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			if err := eventually(patience, func() error {
				nodes, err := (&window{app: program.app}).tree()
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(nodes, func(n node) bool { return n.Role == "heading" && n.Name == program.heading }) {
					return fmt.Errorf("no heading %q", program.heading)
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			start[i] = append(start[i], float64(time.Since(began).Milliseconds()))
			time.Sleep(3 * time.Second) // what starts beside the page
			memory[i] = append(memory[i], residentMiB(cmd.Process.Pid))
			if i == 0 {
				before := processorTime(cmd.Process.Pid)
				time.Sleep(idleTime)
				idle = max(idle, processorTime(cmd.Process.Pid)-before)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		if err := os.RemoveAll(home); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(median(start[0]), "ms-start")
	b.ReportMetric(median(start[1]), "ms-start-empty")
	b.ReportMetric(median(memory[0]), "MiB")
	b.ReportMetric(median(memory[1]), "MiB-empty")
	b.ReportMetric(1000*idle/idleTime.Seconds(), "cpu-ms/idle-s")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// family lists a process and all below it.
func family(pid int) []int {
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", list[i], list[i]))
		if err != nil {
			continue
		}
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", list[i]))
		for _, task := range tasks {
			if children, err = os.ReadFile(task); err != nil {
				continue
			}
			for _, child := range strings.Fields(string(children)) {
				if n, err := strconv.Atoi(child); err == nil && !slices.Contains(list, n) {
					list = append(list, n)
				}
			}
		}
	}
	return list
}

// residentMiB sums the proportional set size (proc(5), smaps_rollup).
func residentMiB(pid int) float64 {
	total := 0
	for _, p := range family(pid) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			var kb int
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &kb); err == nil {
				total += kb
			}
		}
	}
	return float64(total) / 1024
}

// processorTime sums user and system time in seconds (proc(5), stat; 100 ticks a second).
func processorTime(pid int) float64 {
	ticks := 0
	for _, p := range family(pid) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		for _, i := range []int{11, 12} {
			if i < len(fields) {
				n, _ := strconv.Atoi(fields[i])
				ticks += n
			}
		}
	}
	return float64(ticks) / 100
}
