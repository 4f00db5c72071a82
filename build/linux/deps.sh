#!/usr/bin/env bash
# deps.sh: the system packages that Countersign needs and Go modules cannot bring.
#
#   deps.sh run     what `make run` needs: bubblewrap, a C compiler, the window's libraries, Node.js for its pages
#   deps.sh test    the same, and what the tests start: a keyring, a screen, a panel, a browser, strace, tmux …
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
have_library() { have pkg-config && pkg-config --exists "$1"; }
have_node() { # Vite 8 needs Node.js 20.19, or 22.12 and newer
    local version major minor
    version=$(node --version 2>/dev/null) && have npm || return 1
    IFS=. read -r major minor _ <<<"${version#v}"
    [ "$major" -gt 22 ] || { [ "$major" = 22 ] && [ "$minor" -ge 12 ]; } || { [ "$major" = 20 ] && [ "$minor" -ge 19 ]; }
}
have_atspi() { have /usr/bin/python3 && /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; }
have_notifyd() { compgen -G "/usr/lib*/xfce4/notifyd/xfce4-notifyd" >/dev/null || compgen -G "/usr/lib*/*/xfce4/notifyd/xfce4-notifyd" >/dev/null; }
have_font() { fc-list 2>/dev/null | grep "$1" >/dev/null; }

# One row per need: when | check | Debian | Fedora | Arch | openSUSE | Nix | what it is for
table='
run|have bwrap|bubblewrap|bubblewrap|bubblewrap|bubblewrap|bubblewrap|the namespaces of the sandbox
run|have_compiler|gcc|gcc|gcc|gcc|gcc|builds the init that runs inside the sandbox
run|have_headers|libc6-dev|glibc-devel|glibc|glibc-devel|glibc.dev|headers for that init
run|have_certificates|ca-certificates|ca-certificates|ca-certificates|ca-certificates-mozilla|cacert|lets Go fetch its modules
run|have pkg-config|pkg-config|pkgconf-pkg-config|pkgconf|pkg-config|pkg-config|finds the libraries of the window
run|have_library gtk+-3.0|libgtk-3-dev|gtk3-devel|gtk3|gtk3-devel|gtk3|the window
run|have_library webkit2gtk-4.1|libwebkit2gtk-4.1-dev|webkit2gtk4.1-devel|webkit2gtk-4.1|webkit2gtk3-devel|webkitgtk_4_1|shows the pages in the window
run|have_library ayatana-appindicator3-0.1|libayatana-appindicator3-dev|libayatana-appindicator-gtk3-devel|libayatana-appindicator|libayatana-appindicator3-devel|libayatana-appindicator|the tray
test|have Xvfb|xvfb|xorg-x11-server-Xvfb|xorg-server-xvfb|xorg-x11-server-Xvfb|xorg.xorgserver|a screen for the tests of the window
test|have xauth|xauth|xorg-x11-xauth|xorg-xauth|xauth|xorg.xauth|who may use that screen
test|have xdotool|xdotool|xdotool|xdotool|xdotool|xdotool|types and clicks on it
test|have wmctrl|wmctrl|wmctrl|wmctrl|wmctrl|wmctrl|looks at its windows
test|have import|imagemagick|ImageMagick|imagemagick|ImageMagick|imagemagick|takes screenshots
test|have openbox|openbox|openbox|openbox|openbox|openbox|a window manager
test|have xfce4-panel|xfce4-panel|xfce4-panel|xfce4-panel|xfce4-panel|xfce.xfce4-panel|a panel with a tray
test|have_notifyd|xfce4-notifyd|xfce4-notifyd|xfce4-notifyd|xfce4-notifyd|xfce.xfce4-notifyd|shows notifications
test|have xdg-open|xdg-utils|xdg-utils|xdg-utils|xdg-utils|xdg-utils|opens links
test|have desktop-file-validate|desktop-file-utils|desktop-file-utils|desktop-file-utils|desktop-file-utils|desktop-file-utils|checks and registers desktop files
test|have_atspi|at-spi2-core python3-gi gir1.2-atspi-2.0|at-spi2-core python3-gobject|at-spi2-core python-gobject|at-spi2-core python3-gobject|at-spi2-core python3Packages.pygobject3|reads the window as a screen reader does
test|have gdbus|libglib2.0-bin|glib2|glib2|glib2-tools|glib|speaks to the menu of the tray
test|have_font NotoSansCJK|fonts-noto-cjk|google-noto-sans-cjk-fonts|noto-fonts-cjk|noto-sans-sc-fonts|noto-fonts-cjk-sans|Chinese letters
test|have_font DejaVuSans|fonts-dejavu-core|dejavu-sans-fonts|ttf-dejavu|dejavu-fonts|dejavu_fonts|Latin letters
test|have chromium|chromium|chromium|chromium|chromium|chromium|a browser for the tests of the pages
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

if ! have_node; then
    # Distributions that carry one that is new enough bring it below; the others need it from elsewhere.
    offered=$(apt-cache policy nodejs 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*\).*/\1/p')
    case ${offered:-0} in
    20 | 22 | 24) needs_node=yes ;;
    *) give_up "Node.js 20.19, 22.12 or newer is needed to build the window's pages; here is $(node --version 2>/dev/null || echo none). Install it from nodejs.org" ;;
    esac
fi

packages=$(missing 3)
[ -z "${needs_node:-}" ] || packages="$packages nodejs npm"
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
