package sandbox

import "strings"

// What can be done about each missing protection.
const (
	fixBubblewrap = "install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap)"
	fixUserns     = "allow bubblewrap to make user namespaces: on Ubuntu install apparmor-profiles, copy the extra profile bwrap-userns-restrict to /etc/apparmor.d and load it with apparmor_parser -r; elsewhere set user.max_user_namespaces above 0"
	fixContainer  = "run the container with a proc filesystem that may be mounted inside (unmasked /proc, user namespaces allowed), or run the desk outside it"
	fixHardened   = "the service that started the core hides parts of /proc or /sys; start it without ProtectKernelTunables, ProcSubset or RestrictNamespaces"
	fixSetuid     = "this bubblewrap was built without support for its setuid bit: remove the bit (chmod u-s) or install the distribution's package"
	fixLandlock   = "use Linux 5.13 or newer with Landlock enabled (boot parameter lsm=landlock,… where /sys/kernel/security/lsm does not list it)"
	fixSeccomp    = "use a kernel built with CONFIG_SECCOMP_FILTER, and a container profile that allows seccomp(2)"
	fixInit       = "reinstall the desk: countersign-init belongs beside the program, owned by root or you, writable by nobody else"
	fixScratch    = "make the desk's scratch directory writable for you only (mode 0700)"
	fixUnknown    = "run countersign doctor sandbox and report what it prints"
)

// explainBubblewrap names the protection that failed, and the remedy, from what bubblewrap printed when it ended early.
// The text only explains: whether a boundary stands is never read from it.
func explainBubblewrap(text string) (protection, fix string) {
	for _, known := range []struct{ part, protection, fix string }{
		{"RTM_NEWADDR", "namespaces", fixUserns}, // AppArmor took the capabilities of the new user namespace
		{"RTM_NEWLINK", "namespaces", fixUserns},
		{"setting up uid map", "namespaces", fixUserns},
		{"No permissions to creat", "namespaces", fixUserns}, // "creating" in older versions
		{"Creating new namespace failed", "namespaces", fixUserns},
		{"max_user_namespaces", "namespaces", fixUserns},
		{"overflowuid", "namespaces", fixHardened},
		{"overflowgid", "namespaces", fixHardened},
		{"setuid", "namespaces", fixSetuid},
		{"Can't mount proc", "mounts", fixContainer},
		{"Can't mount devpts", "mounts", fixContainer},
		{"Failed to make / slave", "mounts", fixContainer},
		{"pivot_root", "mounts", fixContainer},
		{"Unknown option", "namespaces", "install a newer bubblewrap (0.4 or later)"},
	} {
		if strings.Contains(text, known.part) {
			return known.protection, known.fix
		}
	}
	return "mounts", fixUnknown
}

// explainStep names the protection that a failing step of the init stands for.
func explainStep(step string) (protection, fix string) {
	switch step {
	case "landlock ruleset", "landlock":
		return "landlock", fixLandlock
	case "seccomp":
		return "seccomp", fixSeccomp
	case "pid namespace":
		return "namespaces", fixBubblewrap
	case "privileges":
		return "capabilities", fixUserns
	}
	return "boundary", fixUnknown
}
