package sandbox

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"countersign/backend/pathid"
)

// usualToolchains are searched although no search path names them: the core is often started by a desktop, whose
// search path is short.
var usualToolchains = []string{"/usr/local/go/bin", "/usr/lib/go/bin", "/opt/homebrew/bin", "/nix/var/nix/profiles/default/bin"}

// Toolchains returns the directories with programs that commands find besides the system's: the usual ones and those of
// the core's own search path, as far as they exist, lie outside the home directory and the temporary directories, and
// cannot be written by everybody.
func Toolchains() []string {
	return toolchains(os.Getenv("PATH"), homeDirectories(), func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir() && info.Mode().Perm()&0o002 == 0
	})
}

func toolchains(path string, homes []string, usable func(string) bool) []string {
	list := make([]string, 0, 4)
	for _, dir := range slices.Concat(filepath.SplitList(path), usualToolchains) {
		if !filepath.IsAbs(dir) || strings.ContainsAny(dir, ":\x00") {
			continue
		}
		dir = filepath.Clean(dir)
		if slices.Contains(list, dir) || slices.Contains(systemPath, dir) || !usable(dir) {
			continue
		}
		private := slices.ContainsFunc(slices.Concat(homes, []string{"/tmp", "/var/tmp", "/run", "/dev", "/proc"}), func(root string) bool {
			return pathid.Contains(pathid.Host(), root, dir)
		})
		if !private {
			list = append(list, dir)
		}
	}
	return list
}

// toolchainRoot returns the directory that must be readable for the programs in dir to work: the installation that dir
// is the bin of, unless that would be a top-level directory.
func toolchainRoot(dir string) string {
	switch parent := filepath.Dir(dir); filepath.Base(dir) {
	case "bin", "sbin", "shims":
		if filepath.Dir(parent) != parent && filepath.Dir(filepath.Dir(parent)) != filepath.Dir(parent) {
			return parent
		}
	}
	return dir
}

// homeDirectories returns the account's home directory and the one that the core's environment names, each as it is
// named and as it resolves. The environment alone is not enough: with another HOME, what lies in the account's own would
// count as everybody's.
func homeDirectories() []string {
	var list []string
	add := func(home string, err error) {
		if err != nil || !filepath.IsAbs(home) || filepath.Clean(home) == "/" {
			return
		}
		list = append(list, filepath.Clean(home))
		if real, err := filepath.EvalSymlinks(home); err == nil && real != filepath.Clean(home) {
			list = append(list, real)
		}
	}
	add(os.UserHomeDir())
	if account, err := user.Current(); err == nil {
		add(account.HomeDir, nil)
	}
	return list
}
