// LowerFolder: one directory as a stage's command sees it before it changes anything: the layers of a
// generation, newest first, and the live tree below them, merged as the system's overlay does it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "base/fd.h"
#include "base/result.h"

namespace quire::stage {

class LowerFolder {
public:
    // An entry, and the directory that has it.
    struct Found {
        struct stat status = {};
        int folder = -1;       // Valid as long as the LowerFolder.
        bool is_live = false;  // The live tree has it, so that it may be another by now.
    };

    // A directory that is not there.
    LowerFolder() = default;
    // The root. `layers` are directories, newest first; may be none. Errors: unavailable "io_error".
    static Result<LowerFolder> open(const std::vector<std::string>& layers,
                                    const std::string& live);

    explicit operator bool() const { return !parts_.empty(); }
    // Returns none if nothing is there. O(layers).
    std::optional<Found> look(const std::string& name) const;
    // The directory of this name; not there if the name is none or another kind.
    LowerFolder enter(const std::string& name) const;
    // Sorted. O(entries of all layers).
    std::vector<std::string> names() const;

private:
    struct Part {
        Fd folder;
        bool is_live = false;
    };
    std::vector<Part> parts_;
};

// The bytes of the file that a command saw at this path. Errors: not_found "file_not_found" where the
// layers have no such file; those of staged_bytes().
Result<std::string> lower_bytes(const std::vector<std::string>& layers, const std::string& path,
                                std::size_t limit);

// Returns true if the entry is the mark by which an upper directory or a layer hides a name.
bool is_whiteout(const struct stat& found);
// Returns true if the directory hides all that layers below have in it.
bool is_opaque(int directory);

}  // namespace quire::stage
