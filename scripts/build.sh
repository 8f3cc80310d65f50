#!/usr/bin/env bash
# build.sh FOLDER JOBS [TARGET...]: builds, and says in one line each what is being compiled or linked.
# Everything else that the build prints, errors above all, passes through.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1 jobs=$2
shift 2
targets=()
[ $# -eq 0 ] || targets=(--target "$@")

# Turns ninja's line for one step into words; the shell reads line by line, where awk may wait for a full buffer.
show() {
    local line step what
    while IFS= read -r line; do
        case $line in
            @*/*@\ *)
                step=${line#@} step=${step%%@*}
                what=${line#@*@ }
                case $what in
                    *CMakeFiles/*.dir/Unity/*) what=${what##*CMakeFiles/} what="compiling ${what%%.dir/*}" ;;
                    *CMakeFiles/*.dir/*) what="compiling ${what##*.dir/}" what=${what%.o} ;;
                    Linking*) what="linking ${what##* }" ;;
                    *) continue ;;
                esac
                printf 'quire: [%s, %s s] %s\n' "$step" "$SECONDS" "${what/compiling quire_/compiling }"
                ;;
            'ninja: no work to do.' | 'ninja: Entering directory'*) ;;
            *) printf '%s\n' "$line" ;;
        esac
    done
}

NINJA_STATUS='@%f/%t@ ' cmake --build "$folder" --parallel "$jobs" "${targets[@]}" 2>&1 | show
