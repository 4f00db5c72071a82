package sandbox

import (
	"os/user"
	"path/filepath"
	"slices"
	"testing"
)

// A core that was started with another HOME once gave every command the tools in the account's own home directory to
// read, and what lies beside them: .cargo keeps tokens.
func TestTheAccountsHomeIsPrivateUnderAnotherHOME(t *testing.T) {
	account, err := user.Current()
	if err != nil || !filepath.IsAbs(account.HomeDir) || account.HomeDir == "/" {
		t.Skip("this account has no home directory")
	}
	t.Setenv("HOME", t.TempDir())
	tools := filepath.Join(account.HomeDir, ".cargo", "bin")
	found := toolchains(tools, homeDirectories(), func(string) bool { return true })
	if slices.Contains(found, tools) {
		t.Errorf("%s is readable for every command", tools)
	}
}
