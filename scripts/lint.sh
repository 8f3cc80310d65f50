#!/usr/bin/env bash
# lint.sh [--jobs N] [--changed [BASE]] [--analyse]: formatting, layers, words, include budget, clang-tidy.
# With --changed only the sources that differ from BASE (default: main) go through clang-tidy. With --analyse
# the product goes through clang's static analyser too, which takes three times as long as all the rest.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
changed=
analyse=
while [ $# -gt 0 ]; do
    case $1 in
        --jobs) jobs=$2; shift 2 ;;
        --analyse) analyse=1; shift ;;
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
    if "$@" >build/lint.log; then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        head -n 60 build/lint.log
        status=1
    fi
}

mapfile -t sources < <(scripts/sources.sh)
if [ -n "$changed" ]; then
    mapfile -t units < <(git diff --name-only --diff-filter=d "$changed" -- '*.cc')
else
    mapfile -t units < <(printf '%s\n' "${sources[@]}" | grep '\.cc$' | grep -E '^(src|tests)/')
fi

said() { "$@" 2>&1; }
check format said clang-format --dry-run -Werror "${sources[@]}"
check layers said python3 scripts/check_layers.py . build/layers.txt
check words said python3 scripts/check_words.py
check include-budget said python3 scripts/include_budget.py
tidy() { # NAME CHECKS SOURCES
    local name=$1 checks=$2
    shift 2
    [ $# -eq 0 ] || check "$name" python3 scripts/tidy.py --jobs "$jobs" --checks="$checks" "$@"
}
mapfile -t product < <(printf '%s\n' "${units[@]}" | grep -v '_test\.cc$')
mapfile -t tests < <(printf '%s\n' "${units[@]}" | grep '_test\.cc$')
tidy clang-tidy '-clang-analyzer-*' "${product[@]}"
# A test's constants may be strings; the product's may not run code before main().
tidy clang-tidy-tests '-clang-analyzer-*,-cert-err58-cpp' "${tests[@]}"
[ -z "$analyse" ] || tidy clang-analyzer '-*,clang-analyzer-*' "${product[@]}"
exit $status
