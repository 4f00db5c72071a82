package core

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"

	"countersign/backend/config"
)

// AccountHome returns the home directory from the account database. A hook must not believe $HOME: a repository's
// settings can set it.
func AccountHome() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("find the home directory of this account: %w", err)
	}
	if !filepath.IsAbs(u.HomeDir) {
		return "", fmt.Errorf("the home directory of this account, %q, is not an absolute path", u.HomeDir)
	}
	return u.HomeDir, nil
}

// Directories resolves where state, configuration and the socket are, from the environment.
func Directories() (config.Dirs, error) {
	return config.Resolve(os.Getenv(config.HomeVariable), os.Getenv)
}

// The programs, which lie beside each other.
const (
	programName = "countersign"
	deskName    = "countersign-desk"
	trayName    = "countersign-tray"
	initName    = "countersign-init"
)

// Programs returns the absolute paths of the command line and of the init: the program that runs, or the one beside it
// when the window runs.
func Programs() (commandLine, init string, err error) {
	self, err := Self()
	if err != nil {
		return "", "", err
	}
	dir := filepath.Dir(self)
	if filepath.Base(self) == executable(deskName) {
		self = filepath.Join(dir, executable(programName))
	}
	return self, filepath.Join(dir, initName), nil
}

// Self returns the absolute path of the program that runs.
func Self() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}

// DeskProgram and TrayProgram return the absolute paths of the window and of the tray helper, beside the program that
// runs. They may not be there: a server has only the command line.
func DeskProgram() (string, error) { return beside(deskName) }

// TrayProgram returns the absolute path of the tray helper.
func TrayProgram() (string, error) { return beside(trayName) }

func beside(name string) (string, error) {
	self, err := Self()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(self), executable(name)), nil
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
