// engine_tasks DIR NAME SECONDS: times one task on the files of bench_blobs DIR and prints
// {"first": ms, "warm": ms, "runs": n, "end": hash}. The first run is the cold one: the process has done nothing
// like it before. `warm` is the median of the runs after warming up, 15 or more if they fit into SECONDS (0: no
// such run), and `end` says what the task ended in, for the reader to compare with the peers' ends. Without NAME it
// lists the tasks.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

#include "bench/tasks.h"

namespace quire::bench {

namespace {

std::string& folder() {
    static std::string name;
    return name;
}

// Processor time with QUIRE_BENCH_CPU, for a machine on which others work.
double milliseconds_now() {
    static const bool cpu = std::getenv("QUIRE_BENCH_CPU") != nullptr;
    timespec now{};
    ::clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// FNV-1a of 32 bits: the peers in JavaScript and Rust compute the same.
std::uint32_t hash_of(const std::string& text) {
    std::uint32_t hash = 2166136261U;
    for (const char byte : text) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 16777619U;
    return hash;
}

// The warm runs that are timed. A profiler asks for more.
std::size_t most_runs() {
    const char* runs = std::getenv("QUIRE_BENCH_RUNS");
    return runs == nullptr ? 25 : std::strtoull(runs, nullptr, 10);
}

int run(const Task& task, double seconds) {
    const Once once = task.prepare();
    if (!once) {
        std::puts("{}");
        return 0;
    }
    const Done first = once();
    std::vector<double> warm;
    double spent = first.ms;
    const double most = seconds * 1e3;
    const auto fits = [&](std::size_t runs) {
        return spent + first.ms <= most && warm.size() < runs;
    };
    constexpr std::size_t kWarmUp = 5;
    while (fits(kWarmUp + most_runs())) {
        warm.push_back(once().ms);
        spent += warm.back();
    }
    // The first few are not warm yet.
    const std::size_t skipped = std::min(kWarmUp, warm.size() / 4);
    warm.erase(warm.begin(), warm.begin() + static_cast<std::ptrdiff_t>(skipped));
    std::printf(R"({"first": %.6f, "warm": %.6f, "runs": %zu, "end": %u})"
                "\n",
                first.ms, warm.empty() ? first.ms : median(warm), warm.size(), hash_of(first.end));
    return 0;
}

}  // namespace

std::optional<std::vector<Bytes>> read_blobs(const std::string& name) {
    std::ifstream file(folder() + "/" + name + ".blobs", std::ios::binary);
    if (!file) return std::nullopt;
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    std::vector<Bytes> blobs;
    for (std::size_t at = 0; at + 4 <= all.size();) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; ++i)
            size |= std::size_t{static_cast<std::uint8_t>(all[at + i])} << (8 * i);
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(at + 4);
        blobs.emplace_back(from, from + static_cast<std::ptrdiff_t>(size));
        at += 4 + size;
    }
    return blobs;
}

double timed(const std::function<void()>& work) {
    const double began = milliseconds_now();
    work();
    return milliseconds_now() - began;
}

}  // namespace quire::bench

int main(int argc, char** argv) {
    using namespace quire::bench;  // NOLINT: a benchmark reads better without the project's name.
    std::vector<Task> tasks;
    add_text_tasks(tasks);
    add_document_tasks(tasks);
    if (argc == 2) {
        for (const Task& task : tasks) std::puts(task.name.c_str());
        return 0;
    }
    if (argc == 4) {
        folder() = argv[1];
        for (const Task& task : tasks) {
            if (task.name == argv[2]) return run(task, std::strtod(argv[3], nullptr));
        }
    }
    std::fputs("usage: engine_tasks DIR [NAME SECONDS]\n", stderr);
    return 2;
}
