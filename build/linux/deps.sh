#!/usr/bin/env bash
# deps.sh: the system packages that Countersign needs and Go modules cannot bring.
#
#   deps.sh run     what `make run` needs: bubblewrap, a C compiler, certificates
#   deps.sh test    the same, and what the tests start: a keyring, strace, tmux …
#
# Checks first, and says nothing when nothing is missing. On Debian and Ubuntu it installs what is missing, as root
# or through sudo; everywhere else it names the packages and ends with status 1: a script that guesses its way
# through a foreign package manager does more harm than a list. Despite its folder it also answers on macOS, so that
# the Makefile has one thing to call.
set -euo pipefail

want=${1:-}
case $want in
run | test) ;;
*)
    echo "usage: deps.sh run|test" >&2
    exit 2
    ;;
esac

say() { printf 'deps: %s\n' "$*" >&2; }
give_up() {
    say "$@"
    exit 1
}

have() {
    local found
    found=$(command -v "$1") && [ -x "$found" ] # command -v also names a file that cannot be run
}
have_compiler() { have cc || have gcc || have clang; }
# The init has no C library, but it and the race detector's run-time need the headers.
have_headers() { [ -e /usr/include/stdio.h ] && [ -e /usr/include/linux/seccomp.h ] || ! is_debian; }
have_certificates() {
    [ -n "${SSL_CERT_FILE:-}${SSL_CERT_DIR:-}" ] || [ -s /etc/ssl/certs/ca-certificates.crt ] ||
        [ -s /etc/pki/tls/certs/ca-bundle.crt ] || [ -s /etc/ssl/ca-bundle.pem ] || [ -s /etc/ssl/cert.pem ]
}
have_bus() { have dbus-run-session && have dbus-launch; }
have_mount_tools() { have unshare && have mount; }

# One row per need: when | check | Debian | Fedora | Arch | openSUSE | Nix | what it is for
table='
run|have bwrap|bubblewrap|bubblewrap|bubblewrap|bubblewrap|bubblewrap|the namespaces of the sandbox
run|have_compiler|gcc|gcc|gcc|gcc|gcc|builds the init that runs inside the sandbox
run|have_headers|libc6-dev|glibc-devel|glibc|glibc-devel|glibc.dev|headers for that init
run|have_certificates|ca-certificates|ca-certificates|ca-certificates|ca-certificates-mozilla|cacert|lets Go fetch its modules
test|have git|git|git|git|git|git|what a command leaves in Git metadata
test|have gnome-keyring-daemon|gnome-keyring|gnome-keyring|gnome-keyring|gnome-keyring|gnome-keyring|a real keyring for the owner key
test|have secret-tool|libsecret-tools|libsecret|libsecret|libsecret-tools|libsecret|looks into that keyring from outside
test|have_bus|dbus-x11|dbus-x11 dbus-daemon|dbus|dbus-1-x11 dbus-1-daemon|dbus|the bus of that keyring
test|have strace|strace|strace|strace|strace|strace|what a process asked the kernel for
test|have_mount_tools|util-linux|util-linux|util-linux|util-linux|util-linux|namespaces made by hand, to compare with
test|have ip|iproute2|iproute|iproute2|iproute2|iproute2|a loopback inside such a namespace
test|have tmux|tmux|tmux|tmux|tmux|tmux|a terminal that a test can type into
test|have ps|procps|procps-ng|procps-ng|procps|procps|what is left running
'

# The release file says what this system is; ID_LIKE covers the many children of the five known families.
os_id=unknown os_name=$(uname -s)
if [ -r /etc/os-release ]; then
    # shellcheck disable=SC1091
    os_id=$(. /etc/os-release && echo "${ID:-unknown} ${ID_LIKE:-}")
    # shellcheck disable=SC1091
    os_name=$(. /etc/os-release && echo "${PRETTY_NAME:-${ID:-unknown}}")
fi
is_debian() { case " $os_id " in *" debian "* | *" ubuntu "*) ;; *) return 1 ;; esac; }

# missing COLUMN prints the packages of that column whose check fails, each once.
missing() {
    local column=$1 when check rest
    while IFS='|' read -r when check rest; do
        [ -n "$when" ] || continue
        [ "$when" = run ] || [ "$want" = test ] || continue
        $check || printf '%s\n' "$when|$check|$rest" | cut -d'|' -f"$column"
    done <<<"$table" | sort -u | tr '\n' ' ' | sed 's/ $//'
}

reasons() {
    local when check debian rest
    while IFS='|' read -r when check debian rest; do
        [ -n "$when" ] || continue
        [ "$when" = run ] || [ "$want" = test ] || continue
        $check || say "  ${rest##*|} (${debian})"
    done <<<"$table"
}

if [ "$(uname -s)" = Darwin ]; then
    have_compiler && exit 0
    [ "$want" = run ] && exit 0 # the init is for Linux only; nothing else needs a compiler
    give_up "a C compiler is missing (the race detector needs one). Install Apple's: xcode-select --install"
fi
if [ "$(uname -s)" != Linux ]; then
    exit 0 # nothing here belongs to another system; what is missing there is said by the program itself
fi

packages=$(missing 3)
[ -n "$packages" ] || exit 0

if ! is_debian; then
    say "missing on this machine ($os_name):"
    reasons
    case " $os_id " in
    *" fedora "* | *" rhel "* | *" centos "*) give_up "install it with: sudo dnf install $(missing 4)" ;;
    *" arch "*) give_up "install it with: sudo pacman -S --needed $(missing 5)" ;;
    *" suse "* | *" opensuse "*) give_up "install it with: sudo zypper install $(missing 6)" ;;
    *" nixos "*) give_up "start a shell that has it: nix-shell -p gnumake go $(missing 7)" ;;
    esac
    give_up "this script can install on Debian and Ubuntu only. Install by hand what Debian calls: $packages"
fi

if [ "$(id -u)" = 0 ]; then
    root=()
elif have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    root=(sudo)
else
    say "missing on this machine ($os_name):"
    reasons
    give_up "no right to install here. Ask an administrator to run: apt-get install --no-install-recommends $packages"
fi

log=$(mktemp "${TMPDIR:-/tmp}/countersign-deps.XXXXXX")
trap 'rm -f "$log"' EXIT
apt() { # a waiting lock is normal on a machine that updates itself; a question is not
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1 </dev/null
}

say "installing $packages (a minute or two)"
apt update || true # says little: it also ends well when nothing could be fetched; the installation tells
# shellcheck disable=SC2086 # one word per package
if ! apt install -y --no-install-recommends $packages; then
    tail -n 5 "$log" | sed 's/^/deps:   /' >&2
    if grep -qE 'Temporary failure resolving|Could not (resolve|connect)|Unable to connect|Failed to fetch' "$log"; then
        give_up "the packages could not be fetched: is this machine online? Wanted: $packages"
    fi
    give_up "apt-get could not install $packages; its last words are above."
fi
left=$(missing 3)
[ -z "$left" ] || give_up "apt-get reported success, but this is still missing: $left"
say "done"
