#!/usr/bin/env bash
# configure.sh PRESET [-DNAME=VALUE...] [--new -DNAME=VALUE...]: configures a preset's build folder,
# quietly and only when it is new or an option differs; the build itself notices changed CMake
# files. Options after --new count only for a folder that is new.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
case $preset in
    release) folder=build ;;
    *) folder=build-$preset ;;
esac

# A folder left by a build elsewhere (a copied tree) cannot be used here.
cache=$folder/CMakeCache.txt
if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
    rm -rf "$folder"
fi

new=0
[ -f "$folder/build.ninja" ] || new=1
stale=$new
options=()
for option in "$@"; do
    if [ "$option" = --new ]; then
        [ "$new" = 1 ] && continue || break
    fi
    options+=("$option")
    name=${option#-D}
    grep -qE "^${name%%=*}:[A-Z]+=${name#*=}\$" "$cache" 2>/dev/null || stale=1
done
[ "$stale" = 1 ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf 'quire: configuring %s\n' "$folder" >&2
cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
