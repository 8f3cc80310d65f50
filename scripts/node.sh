#!/usr/bin/env bash
# node.sh ARGS...: runs the pinned node of tests/node. `node.sh --test-file FILE` runs one test file
# of tests/node, and its status is 77 (skipped) where the node packages are not installed.
# With NODE_JUNIT=PATH the cases are also written there.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

node=
for arch in x64 arm64; do
    candidate=$root/tests/node/node_modules/node-linux-$arch/bin/node
    if [ -x "$candidate" ] && [ -e "$root/tests/node/node_modules/.installed" ]; then node=$candidate; fi
done
if [ -z "$node" ]; then
    echo "SKIPPED: the node packages are not installed; scripts/install-deps.sh node brings them" >&2
    exit 77
fi

[ "${1:-}" = --test-file ] || exec "$node" "$@"

: "${QUIRE:=$root/build/quire}"
export QUIRE
reporters=(--test-reporter=spec --test-reporter-destination=stdout)
[ -z "${NODE_JUNIT:-}" ] || reporters+=(--test-reporter=junit "--test-reporter-destination=$NODE_JUNIT")
cd "$root/tests/node"
exec "$node" "${reporters[@]}" "$2"
