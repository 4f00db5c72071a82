//go:build unix

package config

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// platform returns the platform's places for a home directory and variables from env.
func platform(env func(string) string) (Dirs, error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		var err error
		if home, err = accountHome(); err != nil {
			return Dirs{}, err
		}
	}
	return places(filepath.Clean(home), env), nil
}

// account returns the platform's places from the account database alone.
func account() (Dirs, error) {
	home, err := accountHome()
	if err != nil {
		return Dirs{}, err
	}
	return places(home, func(string) string { return "" }), nil
}

// accountHome looks the home directory up by user id. user.Current would believe $HOME where the look-up fails.
func accountHome() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return "", fmt.Errorf("%w: the home directory of this account is unknown (%w); name one with --home or %s", ErrPath, err, HomeVariable)
	}
	if !filepath.IsAbs(u.HomeDir) {
		return "", fmt.Errorf("%w: the account's home directory is %q; name one with --home or %s", ErrPath, u.HomeDir, HomeVariable)
	}
	return filepath.Clean(u.HomeDir), nil
}

func (d Dirs) checkSocket() error { return socketFits(d.Socket()) }
