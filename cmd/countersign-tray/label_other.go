//go:build !linux && !windows

package main

// plainLabel changes nothing: labels have no access keys here.
func plainLabel(text string) string { return cString(text) }
