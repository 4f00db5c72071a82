package sandbox

const (
	unofferedProtection = "appcontainer"
	unofferedDetail     = "this version has no boundary for Windows"
	unofferedFix        = "run the desk on Linux (WSL 2 included) for enforced commands; on Windows calls can be decided here and run by the agent itself"
)
