package sandbox

const (
	unofferedProtection = "seatbelt"
	unofferedDetail     = "this version has no boundary for macOS"
	unofferedFix        = "run the desk on Linux for enforced commands; on macOS calls can be decided here and run by the agent itself"
)
