package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
)

// StartCore starts the core itself, detached, outside every boundary: the one process that the broker cannot start
// because it is the broker's. exe is absolute; args are without the program's name; env is the composed environment, and
// nothing is inherited but that. Standard streams are the null device.
func StartCore(exe string, args []string, env []string) error {
	if !filepath.IsAbs(exe) {
		return fmt.Errorf("start core: %w: %q is not absolute", ErrSpec, exe)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start core: %w", err)
	}
	defer null.Close()
	process, err := os.StartProcess(exe, append([]string{exe}, args...), &os.ProcAttr{
		Dir: filepath.VolumeName(exe) + string(filepath.Separator), Env: append([]string{}, env...), Files: []*os.File{null, null, null}, Sys: detached(),
	})
	if err != nil {
		return fmt.Errorf("start core: %w", err)
	}
	return process.Release()
}
