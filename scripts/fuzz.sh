#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET...]: fuzzes each target for so long (all of them: fuzz/CMakeLists.txt), under
# AddressSanitizer and UndefinedBehaviorSanitizer. What is found stays in build-fuzz/found/TARGET; inputs that
# reached something new, in build-fuzz/seen/TARGET, and the next run begins with them.
#
# Without clang and its fuzzer there is nothing to run: says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?how many seconds for each target}
shift

compiler=$(command -v clang++ || command -v clang++-14 || true)
runtime=$([ -z "$compiler" ] || "$compiler" -print-file-name=libclang_rt.fuzzer-x86_64.a)
if [ -z "$compiler" ] || ! { [ -f "$runtime" ] || compgen -G "$("$compiler" -print-resource-dir)/lib/*/libclang_rt.fuzzer*" >/dev/null; }; then
    echo "SKIPPED fuzz: clang with its fuzzer is not here (packages clang-14 and libclang-rt-14-dev)"
    exit 0
fi

cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG="-O2 -g1" -DCMAKE_CXX_COMPILER_LAUNCHER="${QUIRE_CCACHE:-}" -DQUIRE_TESTS=OFF \
    -DQUIRE_FUZZ=ON -DQUIRE_SANITIZE=address,undefined >/dev/null

# With these the import targets run two to twelve times as often. libFuzzer's entropic schedule took two thirds of their time, and
# stacks of allocations much of the rest. A short input can say as much; `make test` replays the long ones of the corpus.
flags=(-entropic=0 -max_len=1200 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1)
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=16:${ASAN_OPTIONS:-}

failed=()
while IFS=$'\t' read -r -a line; do
    target=${line[0]}
    [ $# -eq 0 ] || [[ " $* " == *" $target "* ]] || continue
    cmake --build build-fuzz --parallel "${JOBS:-$(nproc)}" --target "${target}_fuzz" >/dev/null </dev/null
    mkdir -p "build-fuzz/seen/$target" "build-fuzz/found/$target"
    log=build-fuzz/found/$target.log
    if build-fuzz/fuzz/"${target}_fuzz" -max_total_time="$seconds" "${flags[@]}" \
        -artifact_prefix="build-fuzz/found/$target/" "build-fuzz/seen/$target" "${line[@]:1}" >"$log" 2>&1 </dev/null; then
        echo "fuzz $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, nothing found"
    else
        failed+=("$target")
        echo "fuzz $target: FOUND something; $log and build-fuzz/found/$target say what"
    fi
done <build-fuzz/fuzz/targets.txt
[ ${#failed[@]} -eq 0 ]
