//go:build !linux && !darwin && !windows

package pathid

import (
	"os"
)

func lstat(name string) (Info, error) { return Info{}, refuse("lstat", name, ErrUnsupported) }

func openRead(name string) (*os.File, error) { return nil, refuse("open", name, ErrUnsupported) }
