#!/usr/bin/env bash
# install-deps.sh GROUP...: installs the packages of these groups of scripts/packages.txt that are
# missing. With everything in place it touches neither the system nor the network.
#
# The groups `node` and `bench` also bring tests/node and bench/node to what their package-lock.json pins.
# QUIRE_NO_INSTALL=1 only reports what is missing. QUIRE_WITHOUT_NODE=1 leaves out node and its packages; the tests
# that need them are then skipped and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'quire: %s\n' "$*" >&2; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Says how far a download is, at most once in two seconds: apt-get and npm print nothing for a minute otherwise, or
# hundreds of lines.
last_said=-2
say_now() {
    [ $((SECONDS - last_said)) -ge 2 ] || return 0
    last_said=$SECONDS
    say "[$SECONDS s] $*"
}

narrate_apt() {
    local line fetched=0 unpacked=0 set_up=0 all='?'
    while IFS= read -r line; do
        case $line in
            'Need to get '*) line=${line#Need to get } line=${line%% of archives*} && say "apt-get fetches ${line/\// of }" ;;
            *' newly installed, '*) all=${line#*upgraded, } all=${all%% *} ;;
            Get:*) fetched=$((fetched + 1)) && set -- $line && say_now "fetched $fetched of $all packages: ${5:-}" ;;
            'Unpacking '*) unpacked=$((unpacked + 1)) && set -- $line && say_now "unpacked $unpacked of $all packages: $2" ;;
            'Setting up '*) set_up=$((set_up + 1)) && set -- $line && say_now "set up $set_up of $all packages: $3" ;;
        esac
    done
}

# npm names each package file that it fetches with --loglevel=http.
narrate_npm() {
    local line fetched=0 file
    while IFS= read -r line; do
        case $line in
            *' fetch GET 200 '*.tgz*)
                fetched=$((fetched + 1))
                file=${line%%.tgz*} && say_now "fetched $fetched node packages: ${file##*/}" ;;
        esac
    done
}

missing=()
node_folders=()
for group in "$@"; do
    if [ "$group" = node ] && [ "${QUIRE_WITHOUT_NODE:-0}" = 1 ]; then continue; fi
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
    install() {
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -y -o Dpkg::Use-Pty=0 \
            --no-install-recommends "${missing[@]}" 2>&1 | tee "$log" | narrate_apt
    }
    # The package lists of a machine that was used before are most often good enough.
    install || {
        say "renewing the package lists"
        "${as_root[@]}" apt-get update >"$log" 2>&1 && install
    } || {
        tail -n 20 "$log" >&2
        say "apt-get could not install: ${missing[*]}"
        say "Look at the message above; with the packages installed by hand, the same command goes on from here."
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
        count=$(grep -c '^    "node_modules/' "$folder/package-lock.json")
        say "fetching at most $count node packages with npm, those that $folder/package-lock.json pins"
        (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=http 2>&1) | tee "$log" | narrate_npm || {
            grep -v ' http ' "$log" | tail -n 20 >&2
            say "npm could not fetch the node packages of $folder. Things to check:"
            say "  npm ping                               is the registry reached? (npm config get registry names it)"
            say "  npm config set proxy URL               behind a proxy"
            say "  npm config set cafile FILE             behind a proxy with a certificate of its own"
            say "The same command goes on from here. QUIRE_WITHOUT_NODE=1 before it does without node and skips its tests."
            exit 1
        }
        printf '%s\n' "$want" >"$stamp"
        say "installed"
    fi
done
