#!/usr/bin/env bash
# build.sh FOLDER JOBS [TARGET...]: builds, and says in one line each what is being compiled or linked.
# Everything else that the build prints, errors above all, passes through.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1 jobs=$2
shift 2
targets=()
[ $# -eq 0 ] || targets=(--target "$@")

began=$(date +%s)
NINJA_STATUS='@%f/%t@ ' cmake --build "$folder" --parallel "$jobs" "${targets[@]}" 2>&1 | awk -v began="$began" '
    function elapsed() { return systime() - began " s" }
    function tell(what) { printf "quire: [%s, %s] %s\n", step, elapsed(), what; fflush() }
    /^@[0-9]+\/[0-9]+@ / {
        step = $1
        gsub(/@/, "", step)
        what = $0
        sub(/^@[^@]*@ /, "", what)
        if (match(what, /CMakeFiles\/[^\/]*\.dir\//)) {
            target = substr(what, RSTART + 11, RLENGTH - 16)
            source = what
            sub(/.*\.dir\//, "", source)
            sub(/\.o$/, "", source)
            sub(/^quire_/, "", target)
            unit = source ~ /^Unity\//
            tell("compiling " target (unit ? "" : ": " source))
        } else if (what ~ /^Linking/) {
            sub(/.* /, "", what)
            tell("linking " what)
        }
        next
    }
    /^ninja: (no work to do|Entering directory)/ { next }
    { print; fflush() }'
