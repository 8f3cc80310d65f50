#!/usr/bin/env bash
# install-deps.sh GROUP...: installs the packages of these groups of scripts/packages.txt that are
# missing. With everything in place it touches neither the system nor the network.
#
# The groups `node` and `bench` also bring tests/node and bench/node to what their package-lock.json pins.
# QUIRE_NO_INSTALL=1 only reports what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'quire: %s\n' "$*" >&2; }

missing=()
node_folders=()
for group in "$@"; do
    case $group in
        node) node_folders+=(tests/node) ;;
        bench) node_folders+=(bench/node) ;;
    esac
    while read -r in_group package _version program; do
        [ "$in_group" = "$group" ] || continue
        if [ -n "${program:-}" ] && command -v "$program" >/dev/null; then continue; fi
        status=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
        [[ $status == ii* ]] || missing+=("$package")
    done < <(grep -vE '^(#|$)' scripts/packages.txt)
done

if [ ${#missing[@]} -gt 0 ]; then
    if [ "${QUIRE_NO_INSTALL:-0}" = 1 ]; then
        say "missing packages: ${missing[*]}"
        exit 1
    fi
    command -v apt-get >/dev/null || {
        say "this needs Debian 12 or a relative of it (there is no apt-get here); install by hand: ${missing[*]}"
        exit 1
    }
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            say "run this as root, or install sudo, to install: ${missing[*]}"
            exit 1
        }
        as_root=(sudo)
    fi
    say "installing with ${as_root[*]:+sudo }apt-get: ${missing[*]}"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    install() {
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends "${missing[@]}" >"$log" 2>&1
    }
    # The package lists of a machine that was used before are most often good enough.
    install || { "${as_root[@]}" apt-get update >"$log" 2>&1 && install; } || {
        tail -n 20 "$log" >&2
        say "apt-get could not install: ${missing[*]}"
        exit 1
    }
    say "installed"
fi

for folder in "${node_folders[@]}"; do
    stamp=$folder/node_modules/.installed
    want=$(sha256sum <"$folder/package-lock.json")
    if [ "$(cat "$stamp" 2>/dev/null || true)" != "$want" ]; then
        if [ "${QUIRE_NO_INSTALL:-0}" = 1 ]; then
            say "$folder/node_modules is not what package-lock.json pins"
            exit 1
        fi
        say "installing the pinned node packages into $folder/node_modules"
        (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
        printf '%s\n' "$want" >"$stamp"
        say "installed"
    fi
done
