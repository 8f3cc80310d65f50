// The log is copied aside before anything else is done to the database, because opening it for work
// overwrites the log. Copies and directories are flushed: from here on they are the only trace of
// what was acknowledged and is gone. A copy that cannot be made refuses the store, and nothing is
// changed.

#include "store/lost_commits.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"

namespace quire::store {
namespace {

constexpr std::string_view kPrefix = "lost-commits-";
constexpr int kMostAlike = 1000;  // Directories with the same numbers.

using Path = std::filesystem::path;

Path folder_of(const std::string& path) {
    const Path parent = Path(path).parent_path();
    return parent.empty() ? Path(".") : parent;
}

Failure cannot_keep(const std::string& what, const std::error_code& error) {
    const bool is_full = error == std::errc::no_space_on_device;
    return fail(
        Errc::unavailable, is_full ? "disk_full" : "store_not_writable",
        cat("commits that were acknowledged are missing, and the log cannot be kept aside "
            "as ",
            what, ": ", error.message(), ". Nothing was changed; make room, then try again"),
        {{"file", what}});
}

bool flush(const Path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    return file && ::fsync(file.get()) == 0;
}

// "lost-commits-342-401", and with a number behind it where that is taken.
Result<Path> make_directory(const Path& parent, const MissingCommits& missing) {
    const std::string name = cat(kPrefix, missing.first, "-", missing.last);
    std::error_code error;
    for (int i = 1; i <= kMostAlike; ++i) {
        Path directory = parent / (i == 1 ? name : cat(name, "-", i));
        if (::mkdir(directory.c_str(), 0700) == 0) return directory;
        error = std::error_code(errno, std::generic_category());
        if (error != std::errc::file_exists) break;
    }
    return cannot_keep((parent / name).string(), error);
}

// The numbers in a directory's name; none for another name.
std::optional<MissingCommits> numbers_in(std::string_view name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    MissingCommits missing;
    const char* const end = name.data() + name.size();
    const auto first = std::from_chars(name.data(), end, missing.first);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
    const auto last = std::from_chars(first.ptr + 1, end, missing.last);
    if (last.ec != std::errc() || missing.last < missing.first) return std::nullopt;
    return missing;
}

}  // namespace

Result<LostCommits> keep_log_aside(const std::string& path, const MissingCommits& missing) {
    const Path parent = folder_of(path);
    const Path directory = TRY(make_directory(parent, missing));
    for (const Path& file : {Path(path + "-wal"), parent / kLastCommitFile}) {
        std::error_code error;
        if (!std::filesystem::exists(file, error)) continue;
        const Path copy = directory / file.filename();
        if (!std::filesystem::copy_file(file, copy, error))
            return cannot_keep(copy.string(), error);
        if (!flush(copy))
            return cannot_keep(copy.string(), std::error_code(errno, std::generic_category()));
    }
    if (!flush(directory) || !flush(parent))
        return cannot_keep(directory.string(), std::error_code(errno, std::generic_category()));
    return LostCommits{
        .first = missing.first, .last = missing.last, .directory = directory.string()};
}

// The directories are the record, so a loss is reported at each start until somebody takes them
// away. A directory whose mark cannot be read still counts, with the audit log's end unknown.
std::vector<LostCommits> lost_commits(const std::string& path) {
    std::vector<LostCommits> all;
    std::error_code error;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::directory_iterator(folder_of(path), error)) {
        const auto missing = numbers_in(entry.path().filename().string());
        if (!missing) continue;
        const LastCommit mark =
            CommitMark::read_at((entry.path() / kLastCommitFile).string()).value_or(LastCommit());
        all.push_back({missing->first, missing->last, entry.path().string(), mark.audit_seq,
                       mark.audit_head});
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.directory < b.directory; });
    return all;
}

}  // namespace quire::store
