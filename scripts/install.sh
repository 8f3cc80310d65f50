#!/usr/bin/env bash
# install.sh FOLDER [PREFIX]: installs what is built in FOLDER below PREFIX, and says whether a shell will find it.
# uninstall: install.sh --remove [PREFIX] takes away exactly what was installed there.
#
# PREFIX is /usr/local for root and ~/.local for everybody else. With DESTDIR, all of it goes below that folder, as
# those who make packages need it.
set -euo pipefail

say() { printf 'quire: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

remove=
[ "${1:-}" = --remove ] && remove=1
folder=$1 prefix=${2:-}
if [ -z "$prefix" ]; then
    if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
below=${DESTDIR:-}$prefix
list=$below/share/doc/quire/installed-files

# Removes the files named on standard input, paths below the prefix, and the folders that are then empty.
take_away() {
    local file parent
    while IFS= read -r file; do
        rm -f -- "$below/$file"
        parent=$(dirname "$file")
        while [ "$parent" != . ] && rmdir -- "$below/$parent" 2>/dev/null; do parent=$(dirname "$parent"); done
    done
}

if [ -n "$remove" ]; then
    [ -f "$list" ] || fail "nothing that 'make install' installed is below $prefix; another place: make uninstall PREFIX=DIR"
    [ -w "$(dirname "$list")" ] || fail "cannot remove what is below $prefix as this user; run: sudo make uninstall PREFIX=$prefix"
    was=$(cat "$list")
    { printf '%s\n' "$was"; printf 'share/doc/quire/installed-files\n'; } | take_away
    say "removed quire and its documents from $prefix; workspaces stay as they are"
    exit 0
fi

# The nearest folder that exists decides whether this user may write there.
there=$below
while [ ! -e "$there" ]; do there=$(dirname "$there"); done
[ -w "$there" ] || fail "cannot write to $prefix as this user. Run: sudo make install PREFIX=$prefix, or: make install PREFIX=\$HOME/.local"

before=$(cat "$list" 2>/dev/null || true)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --install "$folder" --component quire --prefix "$prefix" --strip >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
# What an earlier version installed and this one does not is taken away.
now=$(while IFS= read -r file || [ -n "$file" ]; do printf '%s\n' "${file#"$prefix/"}"; done <"$folder/install_manifest_quire.txt" | sort)
if [ -n "$before" ]; then comm -13 <(printf '%s\n' "$now") <(printf '%s\n' "$before" | sort) | take_away; fi
printf '%s\n' "$now" >"$list"

say "installed $prefix/bin/quire with its completions, manual page and documents (remove them with: make uninstall$([ -z "${2:-}" ] || echo " PREFIX=$prefix"))"
[ -z "${DESTDIR:-}" ] || exit 0

found=$(command -v quire || true)
# A folder below the home folder is written so that the line also serves where that moves.
for_profile=$prefix/bin
# shellcheck disable=SC2016  # The shell that reads the profile expands it.
case $for_profile in "$HOME"/*) for_profile='$HOME'${for_profile#"$HOME"} ;; esac
case ":$PATH:" in
    *":$prefix/bin:"*)
        if [ "$found" = "$prefix/bin/quire" ]; then
            say "$prefix/bin is on your PATH: quire is found. Begin with: quire doctor"
        else
            say "$prefix/bin is on your PATH, but $found comes before it and is another quire"
        fi ;;
    *)
        case $(basename "${SHELL:-sh}") in
            zsh) profile='~/.zshrc' ;;
            bash) profile='~/.bashrc' ;;
            fish) profile= ;;
            *) profile='~/.profile' ;;
        esac
        say "$prefix/bin is not on your PATH, so a shell does not find quire yet."
        if [ -n "$profile" ]; then
            say "Add this line to $profile and open a new shell:"
            printf '  export PATH="%s:$PATH"\n' "$for_profile" >&2
        else
            say "Run this once: fish_add_path $prefix/bin"
        fi
        say "Until then, $prefix/bin/quire works too. Begin with: $prefix/bin/quire doctor" ;;
esac
if [ "$(basename "${SHELL:-sh}")" = zsh ]; then
    say "zsh finds the completions if ~/.zshrc has, before compinit: fpath+=($prefix/share/zsh/site-functions)"
fi
