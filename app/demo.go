package app

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// demoConfig is the configuration of a throw-away desk that brings none: its key lies in its directory and goes with it.
const demoConfig = "[identity]\nstore = \"file\"\n"

// demoDirectories are those of a throw-away desk, which gets a configuration unless it has one. The owner's own desk,
// keyring and settings are not touched.
func demoDirectories(dir string) (config.Dirs, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return config.Dirs{}, err
	}
	dirs, err := config.Resolve(dir, func(string) string { return "" })
	if err != nil {
		return config.Dirs{}, err
	}
	if _, err := os.Lstat(dirs.File()); !errors.Is(err, os.ErrNotExist) {
		return dirs, err
	}
	if err := os.MkdirAll(dirs.Config, 0o700); err != nil {
		return config.Dirs{}, err
	}
	return dirs, os.WriteFile(dirs.File(), []byte(demoConfig), 0o600)
}

// demoAgent is what a demonstration's agent is called, and demoVerb how its process is told from our other ones.
const (
	demoAgent     = "demo"
	demoAgentVerb = "demo-agent"
)

// knownAgents are the agents that the core tells apart. A throw-away desk also knows the demonstration's own, which is our
// command line with its verb.
func knownAgents(f flags) (agents.Table, error) {
	known := agents.Known()
	if f.demo == "" {
		return known, nil
	}
	commandLine, _, err := core.Programs()
	if err != nil {
		return known, err
	}
	return known.With(demoAgent, func(p wire.Process) (match, verified bool) {
		match = p.Exe == commandLine && len(p.Args) > 1 && (p.Args[1] == demoAgentVerb || p.Args[1] == demoAgent)
		return match, match
	}), nil
}

// passphraseVariable names a file with the passphrase, as for the command line.
const passphraseVariable = "COUNTERSIGN_PASSPHRASE_FILE"

// knownPassphrase returns where the passphrase comes from without anybody being asked.
func knownPassphrase(f flags) func(config.Config) (desk.Secret, bool, error) {
	if f.demo != "" {
		once := desk.NewSecret(rand.Text())
		return func(config.Config) (desk.Secret, bool, error) { return once, true, nil }
	}
	return func(conf config.Config) (desk.Secret, bool, error) {
		file := os.Getenv(passphraseVariable)
		if file == "" {
			file = conf.Identity.PassphraseFile
		}
		if file == "" {
			return desk.Secret{}, false, nil
		}
		secret, err := desk.ReadPassphraseFile(file)
		return secret, err == nil, err
	}
}
