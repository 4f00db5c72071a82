//go:build !unix

package sandbox

import "os"

func resizeTerminal(*os.File, uint16, uint16) (bool, error) { return false, ErrUnsupported }

func (p *Process) notifyResize() error { return nil }
