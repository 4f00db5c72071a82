//go:build unix && !linux && !darwin

package wire

import "errors"

func listenerUser(int) (int, error) { return -1, errors.ErrUnsupported }
