#!/usr/bin/env bash
# install.sh: puts the built programs where a desktop finds them, and takes them away again.
#
#   install.sh               programs, menu entry, icons, and the handler of countersign: links
#   install.sh --autostart   the same, and starts the desk in the tray at login
#   install.sh --remove      removes what this script installed there, and what the window's libraries keep beside it;
#                            never the owner's desk: its rules, settings and receipts
#
# PREFIX   where to (default ~/.local; no root needed)
# DESTDIR  a packager's root, put before every path; nothing is registered for the user then
# BIN      where the programs are (default: bin/ of this tree)
#
# What was installed is listed in PREFIX/share/countersign/installed, so that removing is exact: beside what the libraries
# keep, a file that is not on that list is never overwritten and never removed. Running it twice is the same as once.
set -euo pipefail

say() { printf 'install: %s\n' "$*" >&2; }
give_up() {
    say "$@"
    exit 1
}

mode=install autostart=no
for argument in "$@"; do
    case $argument in
    --remove) mode=remove ;;
    --autostart) autostart=yes ;;
    *)
        echo "usage: [PREFIX=DIR] [DESTDIR=DIR] install.sh [--autostart | --remove]" >&2
        exit 2
        ;;
    esac
done
[ "$mode $autostart" != "remove yes" ] || give_up "--autostart and --remove do not go together"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${BIN:-$here/../../bin}
prefix=${PREFIX:-${HOME:?is not set}/.local}
root=${DESTDIR:-}
config=${XDG_CONFIG_HOME:-${HOME:-}/.config}
case $prefix in
/*) ;;
*) give_up "PREFIX must be an absolute path: $prefix" ;;
esac
prefix=${prefix%/}
# Desktop files quote in a way of their own, and readers of them differ: only what needs no escape in any of them.
case $prefix in
*[!A-Za-z0-9/._+@\ -]*) give_up "PREFIX holds a character that menu entries cannot name safely: $prefix" ;;
esac
[ "$autostart" = no ] || [ -z "$root" ] || give_up "--autostart is for a user, not for a package (DESTDIR is set)"

list=$prefix/share/countersign/installed
scheme=x-scheme-handler/countersign
handler=dev.countersign.Link.desktop
defaults=$config/mimeapps.list                   # the user's; xdg-mime writes it
cache=$prefix/share/applications/mimeinfo.cache # of all entries there; update-desktop-database writes it
login=$config/autostart/dev.countersign.Desk.desktop
programs=(countersign countersign-desk countersign-tray countersign-init)

# could_be_ours says whether this script could have put a path on the list. Others can write that file: a line in it must not
# make us remove what is theirs. A directory goes only when it is empty.
could_be_ours() {
    case $1 in
    */../* | */./* | *//*) return 1 ;;
    "$list" | "$cache" | "$defaults" | "$login") return 0 ;;
    */)
        case $prefix/ in "$1"*) return 0 ;; esac
        case $login in "$1"*) return 0 ;; esac
        case $1 in "$prefix"/*) return 0 ;; esac
        return 1
        ;;
    "$prefix"/*) case ${1##*/} in countersign | countersign-* | dev.countersign.*) return 0 ;; esac ;;
    esac
    return 1
}

# The list has one path a line, without DESTDIR; a directory that we made ends in a slash.
declare -A ours=() now=()
if [ -f "$root$list" ]; then
    while IFS= read -r path; do
        if could_be_ours "$path"; then
            ours[$path]=1
        else
            say "$root$list names what this script did not install, which is left alone: $(printf '%q' "$path")"
        fi
    done <"$root$list"
fi

# shared says whether a path is written by others too: it is on the list when it was not there before us, and goes only
# when nothing is left in it.
shared() { [ "$1" = "$defaults" ] || [ "$1" = "$cache" ]; }

make_dir() {
    local dir=$1
    [ ! -d "$root$dir" ] || return 0
    make_dir "$(dirname "$dir")"
    mkdir "$root$dir"
    now[$dir/]=1
}

# put MODE SOURCE PATH copies a file through a rename: a program that runs stays whole. The copy has a name that nobody could
# have made a link of before.
put() {
    local target=$root$3 made
    if [ -e "$target" ] || [ -L "$target" ]; then
        [ -n "${ours[$3]:-}" ] || give_up "$target is there and is not from this script; move it away, or choose another PREFIX"
    fi
    make_dir "$(dirname "$3")"
    made=$(mktemp "$(dirname "$target")/.countersign.XXXXXXXX")
    { cat -- "$2" >"$made" && chmod "$1" "$made" && mv -fT -- "$made" "$target"; } || {
        rm -f -- "$made"
        give_up "could not write $target"
    }
    now[$3]=1
}

# entry NAME PROGRAM ARGUMENTS PATH installs a desktop file with the program's absolute path.
entry() {
    local exec="$prefix/bin/$2" made
    case $exec in *\ *) exec="\"$exec\"" ;; esac
    made=$(mktemp)
    sed "s|^Exec=.*|Exec=$exec${3:+ $3}|" "$here/$1" >"$made"
    put 644 "$made" "$4"
    rm -f "$made"
}

# The caches of a desktop. None of the tools has to be there.
refresh() {
    [ -z "$root" ] || return 0
    ! command -v update-desktop-database >/dev/null || [ "$mode" = remove ] && [ ! -e "$cache" ] ||
        update-desktop-database -q "$prefix/share/applications" || true
    # Only a cache that is there already: a directory without one is read directly.
    ! command -v gtk-update-icon-cache >/dev/null || [ ! -e "$prefix/share/icons/hicolor/icon-theme.cache" ] ||
        gtk-update-icon-cache -q -f -t "$prefix/share/icons/hicolor" || true
}

# An installation that ends early is on the list as far as it came, so that it can be removed or finished.
ended_early() {
    [ ${#now[@]} -gt 0 ] || return 0
    local path
    for path in "${!ours[@]}"; do now[$path]=1; done
    write_list
}

write_list() {
    make_dir "$(dirname "$list")"
    now[$list]=1
    local made
    made=$(mktemp "$(dirname "$root$list")/.installed.XXXXXXXX")
    printf '%s\n' "${!now[@]}" | LC_ALL=C sort >"$made"
    chmod 644 "$made"
    mv -fT -- "$made" "$root$list"
}

install_all() {
    local program icon path
    for program in "${programs[@]}"; do
        [ -x "$bin/$program" ] || give_up "$bin/$program is missing; build it first: make"
    done
    trap ended_early EXIT
    [ -z "$root" ] || mkdir -p -- "$root"
    for program in "${programs[@]}"; do put 755 "$bin/$program" "$prefix/bin/$program"; done
    entry dev.countersign.Desk.desktop countersign-desk "" "$prefix/share/applications/dev.countersign.Desk.desktop"
    entry "$handler" countersign "open %u" "$prefix/share/applications/$handler"
    while IFS= read -r icon; do
        put 644 "$here/icons/$icon" "$prefix/share/icons/$icon"
    done < <(cd "$here/icons" && find hicolor -type f | LC_ALL=C sort)
    if [ "$autostart" = yes ] || { [ -n "${ours[$login]:-}" ] && [ -e "$login" ]; }; then
        entry dev.countersign.Desk.desktop countersign-desk --hidden "$login"
    fi
    # From an older version, or a directory that was made then.
    for path in "${!ours[@]}"; do
        case $path in
        */) [ ! -d "$root$path" ] || now[$path]=1 ;;
        *) [ -n "${now[$path]:-}" ] || [ "$path" = "$list" ] || shared "$path" || rm -f -- "$root$path" ;;
        esac
    done
    if [ -z "$root" ]; then
        for path in "$defaults" "$cache"; do
            [ -e "$path" ] && [ -z "${ours[$path]:-}" ] || now[$path]=1
        done
        register
        refresh
    fi
    write_list
    trap - EXIT
    say "installed in $root$prefix"
    if [ -z "$root" ]; then
        case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) say "$prefix/bin is not in your PATH; in a terminal, call $prefix/bin/countersign or add it" ;;
        esac
    fi
}

# register makes us the handler of countersign: links for this user.
register() {
    if ! command -v xdg-mime >/dev/null; then
        say "xdg-mime is missing: countersign: links are not registered (package xdg-utils)"
        return 0
    fi
    make_dir "$config"
    xdg-mime default "$handler" "$scheme" || say "xdg-mime could not register countersign: links"
}

unregister() {
    local left line="^$scheme=$handler;\{0,1\}\$"
    [ -z "$root" ] && [ -f "$defaults" ] && grep -q "$line" "$defaults" || return 0
    left=$(mktemp)
    grep -v "$line" "$defaults" >"$left" || true
    cat "$left" >"$defaults" # keeps the file's mode, and a link's target
    rm -f "$left"
}

# What the window's libraries keep for this account under the program's name: the web view's data and cache, and the words
# on the buttons of notifications. Nothing in them is the owner's.
remove_kept() {
    [ -z "$root" ] && [ -n "${HOME:-}" ] || return 0
    rm -rf -- "${XDG_DATA_HOME:-$HOME/.local/share}/countersign-desk" "${XDG_CACHE_HOME:-$HOME/.cache}/countersign-desk"
    rm -f -- "$config/countersign-desk/notification-categories.json"
    rmdir -- "$config/countersign-desk" 2>/dev/null || true # it was not there, or holds what is not ours
}

# What is the owner's stays; who wants to be rid of it is told how.
tell_what_stays() {
    [ -z "$root" ] && [ -n "${HOME:-}" ] || return 0
    local state=${XDG_STATE_HOME:-$HOME/.local/state}/countersign settings=$config/countersign dir
    local -a stays=()
    for dir in "$state" "$settings"; do [ ! -d "$dir" ] || stays+=("$dir"); done
    [ ${#stays[@]} -gt 0 ] || return 0
    say "your desk stays, with its rules, settings and receipts; to remove that too: rm -r --$(printf ' %q' "${stays[@]}")"
    say "its key stays in your keyring, if it is kept there: the desktop's keyring program shows it as dev.countersign.Desk"
}

# An agent that is still connected would call a program that is gone.
refuse_connected() {
    local settings=${CLAUDE_CONFIG_DIR:-${HOME:-}/.claude}/settings.json
    [ -z "$root" ] && [ -f "$settings" ] && grep -qF "$prefix/bin/countersign" "$settings" || return 0
    give_up "Claude Code still asks these programs before each call; first: $prefix/bin/countersign disconnect claude"
}

remove_all() {
    [ -f "$root$list" ] || give_up "$root$list is missing: nothing was installed there by this script"
    refuse_connected
    unregister
    local path
    for path in "${!ours[@]}"; do
        case $path in
        */) ;;
        *) shared "$path" || rm -f -- "$root$path" ;;
        esac
    done
    refresh
    for path in "$defaults" "$cache"; do # the names of sections and empty lines are nothing
        [ -z "${ours[$path]:-}" ] || [ -n "$root" ] || ! [ -f "$path" ] || grep -qv '^\[.*\]$\|^$' "$path" || rm -f -- "$path"
    done
    printf '%s\n' "${!ours[@]}" | { grep '/$' || true; } | LC_ALL=C sort -r | while IFS= read -r path; do
        rmdir -- "$root$path" 2>/dev/null || true # somebody else put something there
    done
    remove_kept
    say "removed from $root$prefix"
    tell_what_stays
}

if [ "$mode" = remove ]; then remove_all; else install_all; fi
