package config

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// platform returns the AppData directories from env, or those of the account.
func platform(env func(string) string) (Dirs, error) {
	local, roaming := env("LOCALAPPDATA"), env("APPDATA")
	if filepath.IsAbs(local) && filepath.IsAbs(roaming) {
		return places(local, roaming), nil
	}
	return account()
}

// account asks the system for the known folders of this account; no variable is read.
func account() (Dirs, error) {
	local, err := windows.KnownFolderPath(windows.FOLDERID_LocalAppData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return Dirs{}, fmt.Errorf("%w: %w; name one with --home or %s", ErrPath, err, HomeVariable)
	}
	roaming, err := windows.KnownFolderPath(windows.FOLDERID_RoamingAppData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return Dirs{}, fmt.Errorf("%w: %w; name one with --home or %s", ErrPath, err, HomeVariable)
	}
	return places(local, roaming), nil
}

func places(local, roaming string) Dirs {
	return apart(filepath.Join(local, titleName, "state"), filepath.Join(roaming, titleName))
}

// checkSocket does nothing: the named pipe's name is a digest.
func (d Dirs) checkSocket() error { return nil }
