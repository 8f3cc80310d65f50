#!/usr/bin/env bash
# deb.sh FOLDER: makes the Debian package of what is built in FOLDER, and says how to install it.
set -euo pipefail
folder=$1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
(cd "$folder" && cpack --config CPackConfig.cmake) >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
package=$(sed -n 's/^CPack: - package: \(.*\) generated\.$/\1/p' "$log")
package=${package#"$PWD/"}
{
    printf 'quire: made %s (%s)\n' "$package" "$(dpkg-deb --show --showformat='${Package} ${Version}, ${Architecture}' "$package")"
    printf 'quire: install it with: %sapt-get install ./%s\n' "$([ "$(id -u)" -eq 0 ] || echo 'sudo ')" "$package"
} >&2
