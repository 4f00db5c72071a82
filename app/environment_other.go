//go:build !linux

package app

// prepareEnvironment does nothing: the web views of these systems read no variables that matter here.
func prepareEnvironment() {}
