package rules

// ManagedFile is where an administrator puts rules for everybody on this machine.
const ManagedFile = "/Library/Application Support/Countersign/managed.toml"
