//go:build !unix

package settings

// syncDir does nothing: directories cannot be flushed here.
func syncDir(string) error { return nil }
