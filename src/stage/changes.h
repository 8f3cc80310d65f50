// StagedChange: one change that a staged command made in its workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"

namespace quire::stage {

// `special` is a fifo, a socket or a device.
enum class ChangeKind { created, modified, deleted, mode, link, directory, special };
constexpr auto words_of(ChangeKind) {
    return word_table("created", "modified", "deleted", "mode", "link", "directory", "special");
}

// One path. A directory is named where it was made or deleted itself; a deleted one's files are
// named too. What became something else of another kind is deleted and then created, as two changes.
struct StagedChange {
    std::string path;  // Relative to the workspace.
    ChangeKind kind = ChangeKind::modified;
    bool is_directory = false;  // It was there, or is there now.
    bool was_link = false;      // A link was deleted.
    // The permissions now, of what is there.
    std::uint32_t mode = 0;
    bool mode_changed = false;  // It was there before with others.
    std::string target = {};    // A link's.
    // True if the file in the workspace itself changed after the command began, so that what the
    // command saw of it cannot be known.
    bool raced = false;
    // True if the command saw the path in a generation (generation.h), which nobody else writes to; so
    // what the file was then can be compared with what it is now.
    bool is_based = false;
    // The hash of the file in the workspace that the change was made of; "" where it may be any. In
    // hexadecimal.
    std::string seen = {};
    // The bytes that the change was made of, where they are not those of the file: a document may have
    // edits that are not saved.
    std::optional<std::string> made_of = {};
};

// Files and directories beyond this number end in an error.
inline constexpr std::size_t kMostChanges = 200'000;

// The difference of `upper`, an overlay's upper directory, and what is below it: the layers of a
// generation, newest first, if there are any, and the workspace; sorted by path.
// Files that were written again with the same bytes and permissions are no change, and whatever is
// below one of `hidden`, paths that the command did not see, is one only if it made something there: a
// deleted directory that holds one of them stays, with that.
// Links are never followed. O(files in `upper`, and their bytes).
//
// Errors: out_of_range "too_many_changes" {limit}; unavailable "io_error" {path}.
Result<std::vector<StagedChange>> changes_in(const std::string& workspace, const std::string& upper,
                                             const std::vector<std::string>& hidden,
                                             std::int64_t began_ns,
                                             const std::vector<std::string>& layers = {});

// The bytes of a changed file, as the command left them. Errors: out_of_range "too_large" {limit,
// size}; unavailable "io_error".
Result<std::string> staged_bytes(const std::string& upper, const std::string& path,
                                 std::size_t limit);

}  // namespace quire::stage
