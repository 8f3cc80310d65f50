// Counts from outside, by /proc: a tree of processes from the first one, the private memory of
// each, and the blocks of all files in the stages. A peak between two looks may be missed. The
// limits that the system keeps for each process (ProcessLimits) bound it.
#include "stage/usage.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire::stage {
namespace {

namespace files = std::filesystem;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

constexpr std::int64_t kLookMs = 100;
constexpr std::int64_t kLookAtDiskMs = 500;
constexpr std::uint64_t kNextToNothing = std::uint64_t{1} << 20;

File open_proc(const std::string& path) {
    return {std::fopen(path.c_str(), "re"), &std::fclose};
}

// The children of all threads of a process.
std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> out;
    std::error_code gone;
    for (const auto& thread : files::directory_iterator(cat("/proc/", process, "/task"), gone)) {
        const File list = open_proc(thread.path().string() + "/children");
        pid_t child = 0;
        while (list != nullptr && std::fscanf(list.get(), "%d", &child) == 1) out.push_back(child);
    }
    return out;
}

// Memory of its own that is in use.
std::uint64_t memory_of(pid_t process) {
    const File file = open_proc(cat("/proc/", process, "/statm"));
    unsigned long all = 0, resident = 0, shared = 0;
    if (file == nullptr || std::fscanf(file.get(), "%lu %lu %lu", &all, &resident, &shared) != 3 ||
        resident < shared)
        return 0;
    return std::uint64_t{resident - shared} * static_cast<std::uint64_t>(::getpagesize());
}

struct DiskUse {
    std::uint64_t bytes = 0;
    std::uint64_t lengths = 0;  // The lengths of all files together, with their holes.
    std::uint64_t longest = 0;
};

DiskUse disk_use_of(const std::string& directory) {
    DiskUse out;
    std::error_code gone;
    for (files::recursive_directory_iterator
             at(directory, files::directory_options::skip_permission_denied, gone),
         end;
         at != end; at.increment(gone)) {
        struct stat found {};
        if (::lstat(at->path().c_str(), &found) != 0) continue;
        out.bytes += static_cast<std::uint64_t>(found.st_blocks) * 512;
        if (!S_ISREG(found.st_mode)) continue;
        const auto length = static_cast<std::uint64_t>(found.st_size);
        out.lengths += length;
        out.longest = std::max(out.longest, length);
    }
    return out;
}

}  // namespace

UsageWatch::UsageWatch(const Clock& clock, pid_t first, std::string all, std::string own,
                       std::uint64_t processes, std::uint64_t memory_bytes,
                       std::uint64_t disk_bytes)
    : clock_(clock),
      first_(first),
      all_(std::move(all)),
      own_(std::move(own)),
      processes_(processes),
      memory_bytes_(memory_bytes),
      disk_bytes_(disk_bytes) {}

std::optional<StageEnd> UsageWatch::look() {
    const std::int64_t now_ms = clock_.steady_ms();
    if (next_ms_ == 0) next_ms_ = next_disk_ms_ = now_ms + kLookMs;
    if (now_ms < next_ms_) return std::nullopt;
    next_ms_ = now_ms + kLookMs;
    // The first process is ours, and a copy of the kernel's; it does not count.
    std::vector<pid_t> found = children_of(first_);
    std::uint64_t memory = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found.size() > processes_) return StageEnd::processes;
        memory += memory_of(found[i]);
        // A process whose parent has ended belongs to the first one, so the tree has all of them.
        const std::vector<pid_t> more = children_of(found[i]);
        found.insert(found.end(), more.begin(), more.end());
    }
    if (memory > memory_bytes_) return StageEnd::memory;
    if (now_ms < next_disk_ms_) return std::nullopt;
    // A command that writes next to nothing is not ended for what others have written.
    const bool is_full =
        disk_use_of(all_).bytes > disk_bytes_ && disk_use_of(own_).bytes > kNextToNothing;
    const std::int64_t after_ms = clock_.steady_ms();
    // Many files take long to count. The pause grows with that, so that counting stays a tenth of
    // the time.
    next_disk_ms_ = after_ms + kLookAtDiskMs + 10 * (after_ms - now_ms);
    return is_full ? std::optional(StageEnd::disk) : std::nullopt;
}

// The system ends a process that writes beyond the limit of one file, and leaves the file cut there. What the
// command says of that with its exit code cannot be relied on.
bool UsageWatch::has_filled_disk(bool counts_holes) const {
    const DiskUse own = disk_use_of(own_);
    const std::uint64_t used = counts_holes ? std::max(own.bytes, own.lengths) : own.bytes;
    return used > std::max(disk_bytes_, kNextToNothing) ||
           (own.longest >= disk_bytes_ && own.longest > 0);
}

}  // namespace quire::stage
