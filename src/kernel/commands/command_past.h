// PastRecorder: a record of what was at the paths that a command changed and that have no history: files
// that are no text, directories, links and permissions. An undo of the command puts it back (command_undo.h).
//
//     .quire/past/NAME/past.json    the changes, in the order in which they were made
//     .quire/past/NAME/0, 1, ...    the bytes of files that were replaced or deleted
//
// A name is the time in milliseconds and six letters and digits.
//
// Until all changes are made, the record stands in the command's stage, and each change is announced there
// before it is made. So the kernel after one that was killed in the middle goes on with the record
// (command_completion.h):
//
//     STAGE/past/changes.json       a line for each change that is announced, and another once it is made
//                                   or withdrawn
//     STAGE/past/0, 1, ...
//
// The records of a workspace take kMostPastBytes at most, and there are kMostPasts; the oldest go first. A
// record of which all is undone stays, empty, so that it is told from one that is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_words.h"
#include "base/fd.h"
#include "base/result.h"
#include "json/fields.h"

namespace quire::fs {
class DiskEntries;
class FileSystem;
}  // namespace quire::fs

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

// Writes the record of one command in the directory of its stage. What cannot be recorded is changed all
// the same, and notes() says that it cannot be undone.
class PastRecorder {
public:
    PastRecorder(std::string workspace, const std::string& stage)
        : workspace_(std::move(workspace)), directory_(stage + "/past") {}

    // Goes on with the record of a kernel that was killed.
    void resume(const fs::DiskEntries& entries, fs::FileSystem& files);
    // Announces a change, with what is known of the path after it; `bytes` are those of a file that is
    // to be replaced or deleted. Returns the change's number for made().
    std::size_t announce(PastChange change, std::optional<std::string_view> bytes = std::nullopt);
    void made(std::size_t number, PathState after);
    void withdraw(std::size_t number);
    // Does the work on a path that is no file's bytes, and records what it changed. Errors: those of the work.
    template <class Work>
    Result<void> change(const fs::DiskEntries& entries, const std::string& path, bool is_mode,
                        Work work) {
        const std::optional<std::size_t> number = announce_at(entries, path, is_mode);
        Result<void> done = work();
        if (number) settle(entries, *number);
        return done;
    }
    // Brings the record to its place under this name, and removes old ones to make room. Returns
    // false if there is nothing in it.
    bool finish(const std::string& name);
    // Returns true if the record with this name is in its place.
    static bool is_finished(const std::string& workspace, const std::string& name);
    // Forgets what was recorded: the changes were taken back.
    void discard();
    // Sentences about what could not be recorded.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    struct Line;
    std::optional<std::size_t> announce_at(const fs::DiskEntries& entries, const std::string& path,
                                           bool is_mode);
    // The announced change was made if the path is not as it was before.
    void settle(const fs::DiskEntries& entries, std::size_t number);
    void write(std::size_t number);
    Result<void> add_line(std::size_t number);
    Result<std::string> keep(const PastChange& change, std::string_view bytes);
    void note(const Error& why);

    enum class Progress { announced, made, withdrawn };
    friend constexpr auto words_of(Progress) {
        return word_table("announced", "made", "withdrawn");
    }
    struct Change {
        PastChange what;
        Progress progress = Progress::announced;
        std::size_t order = 0;  // Counts the changes in the order in which they were made.
    };
    const std::string workspace_;
    const std::string directory_;
    std::vector<Change> changes_;
    Fd lines_;  // None until there is something to record.
    std::size_t made_ = 0;
    std::uint64_t size_ = 0;
    std::size_t files_ = 0;
    std::vector<std::string> notes_;
};

// Removes directories that are no records.
void sweep_past(const std::string& workspace);
// The directory of a record; none where no record can have such a name.
std::optional<std::string> past_directory(const std::string& workspace, std::string_view name);
// The changes of the record in the directory, the oldest first; none once all is undone. Errors: not_found
// "nothing_to_undo" for a record that is lost.
Result<std::vector<PastChange>> read_past(const std::string& directory);
// Replaces what the record says. A record without changes keeps no bytes.
Result<void> write_past(const std::string& directory, const std::vector<PastChange>& changes);

}  // namespace quire::kernel
