// PastRecorder: a record of what was at the paths that a command changed and that have no history: files
// that are no text, directories, links and permissions. An undo of the command puts it back (command_undo.h).
//
//     .quire/past/NAME/past.json    the changes, in the order in which they were made
//     .quire/past/NAME/0, 1, ...    the bytes of files that were replaced or deleted
//
// A name is the time in milliseconds and six letters and digits.
//
// The records of a workspace take kMostPastBytes at most, and there are kMostPasts; the oldest go first. A
// record of which all is undone stays, empty, so that it is told from one that is lost. A kernel that is killed
// while a command's changes are kept completes them (command_journal.h), and then they have no record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "json/fields.h"

namespace quire {
class Clock;
}
namespace quire::fs {
class DiskEntries;
}

namespace quire::kernel {

inline constexpr std::uint64_t kMostPastBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMostPasts = 1000;

enum class PathKind { nothing, file, directory, link, other };
constexpr auto words_of(PathKind) {
    return word_table("nothing", "file", "directory", "link", "other");
}

// The thing at a path; a link is not followed.
struct PathState {
    PathKind kind = PathKind::nothing;
    std::size_t mode = 0;     // The permissions of a file or a directory.
    std::string target = {};  // A link's. Names are bytes.
    std::string hash = {};    // A file's, in hexadecimal digits; "" where its bytes do not matter.

    static json::Fields<PathState> fields();
};

// One change of a path that can be taken back. A deleted text comes back by its history, and then gets its
// permissions, if it has the bytes that it had: `is_mode`, with nothing after.
struct PastChange {
    std::string path;
    PathState before = {};
    PathState after = {};
    bool is_mode = false;    // Only the permissions changed.
    std::string bytes = {};  // The name of the file that has the bytes from before; "" for none.

    static json::Fields<PastChange> fields();
};

// Looks at a path; the hash of a file is left out. Errors: those of DiskEntries.
Result<PathState> path_state(const fs::DiskEntries& entries, const std::string& path);

// Writes the record of one command. One that is not finished is removed.
class PastRecorder {
public:
    PastRecorder(std::string workspace, const Clock& clock)
        : workspace_(std::move(workspace)), clock_(clock) {}
    PastRecorder(const PastRecorder&) = delete;
    PastRecorder& operator=(const PastRecorder&) = delete;
    ~PastRecorder();

    // Adds a change that was made; `bytes` are those of a file that it replaced or deleted.
    // Errors: unavailable "io_error", and out_of_range "too_large" where the bytes take more than all
    // records may; then the change is there without them.
    Result<void> add(PastChange change, std::optional<std::string_view> bytes = std::nullopt);
    // Returns the record's name; "" if there is nothing in it. Removes old records to make room.
    Result<std::string> finish();

private:
    Result<void> open();

    const std::string workspace_;
    const Clock& clock_;
    std::string directory_;  // "" until there is something to keep.
    std::vector<PastChange> changes_;
    std::uint64_t size_ = 0;
    std::size_t files_ = 0;
    bool is_finished_ = false;
};

// Removes the records that a kernel which was killed did not finish.
void sweep_past(const std::string& workspace);
// The directory of a record; none where no record can have such a name.
std::optional<std::string> past_directory(const std::string& workspace, std::string_view name);
// The changes of the record in the directory, the oldest first; none once all is undone. Errors: not_found
// "nothing_to_undo" for a record that is lost.
Result<std::vector<PastChange>> read_past(const std::string& directory);
// Replaces what the record says. A record without changes keeps no bytes.
Result<void> write_past(const std::string& directory, const std::vector<PastChange>& changes);

}  // namespace quire::kernel
