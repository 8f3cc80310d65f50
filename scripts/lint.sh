#!/usr/bin/env bash
# lint.sh [--jobs N] [--changed [BASE]]: formatting, layers, words, include budget, clang-tidy.
# With --changed only the sources that differ from BASE (default: main) go through clang-tidy.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
changed=
while [ $# -gt 0 ]; do
    case $1 in
        --jobs) jobs=$2; shift 2 ;;
        --changed)
            changed=main; shift
            if [ $# -gt 0 ]; then changed=$1; shift; fi ;;
        *) echo "lint.sh: unknown argument $1" >&2; exit 2 ;;
    esac
done

status=0
check() {
    local name=$1
    shift
    if "$@" >build/lint.log 2>&1; then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' build/lint.log | head -n 60
        status=1
    fi
}

mapfile -t sources < <(scripts/sources.sh)
if [ -n "$changed" ]; then
    mapfile -t units < <(git diff --name-only --diff-filter=d "$changed" -- '*.cc')
else
    mapfile -t units < <(printf '%s\n' "${sources[@]}" | grep '\.cc$' | grep -E '^(src|tests)/')
fi

check format clang-format --dry-run -Werror "${sources[@]}"
check layers python3 scripts/check_layers.py . build/layers.txt
check words python3 scripts/check_words.py
check include-budget python3 scripts/include_budget.py
if [ ${#units[@]} -gt 0 ]; then
    tidy() {
        local checks=$1
        shift
        printf '%s\n' "$@" | xargs -r -P "$jobs" -n 1 clang-tidy -p build --quiet \
            --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-sign-conversion --checks="$checks"
    }
    mapfile -t product < <(printf '%s\n' "${units[@]}" | grep -v '_test\.cc$')
    mapfile -t tests < <(printf '%s\n' "${units[@]}" | grep '_test\.cc$')
    check clang-tidy tidy "" "${product[@]}"
    # A test's constants may be strings; the product's may not run code before main().
    check clang-tidy-tests tidy "-cert-err58-cpp" "${tests[@]}"
fi
exit $status
