//go:build !linux && !darwin && !windows

package sandbox

const (
	unofferedProtection = "boundary"
	unofferedDetail     = "there is no boundary for this system"
	unofferedFix        = "run the desk on Linux for enforced commands"
)
