//go:build unix && !darwin

package rules

// ManagedFile is where an administrator puts rules for everybody on this machine.
const ManagedFile = "/etc/countersign/managed.toml"
