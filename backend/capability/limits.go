package capability

import (
	"strconv"
)

// wider returns the first limit that m sets higher than l. A limit that m does not set is inherited, not lifted.
func (l Limits) wider(m Limits) error {
	if l.WallClock != 0 && m.WallClock > l.WallClock {
		return &WiderError{What: "limits.wall_clock", Value: m.WallClock.String()}
	}
	for _, limit := range []struct {
		what        string
		have, wants uint64
	}{
		{"cpu_seconds", l.CPUSeconds, m.CPUSeconds},
		{"memory_bytes", l.MemoryBytes, m.MemoryBytes},
		{"file_bytes", l.FileBytes, m.FileBytes},
		{"processes", l.Processes, m.Processes},
		{"open_files", l.OpenFiles, m.OpenFiles},
		{"output_bytes", l.OutputBytes, m.OutputBytes},
	} {
		if limit.have != 0 && limit.wants > limit.have {
			return &WiderError{What: "limits." + limit.what, Value: strconv.FormatUint(limit.wants, 10)}
		}
	}
	return nil
}
