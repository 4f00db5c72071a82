//go:build !windows

package winlock

// properPath is the path itself: only Windows has second names for a file.
func properPath(path string) (string, error) { return path, nil }

// readFault is the error itself: locks do not stop readers here.
func readFault(err error) error { return err }
