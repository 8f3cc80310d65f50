#include "cli/commands/scratch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/concat.h"

namespace quire::cli {

// mkdtemp() makes it for its owner alone, under a name that did not exist.
Result<ScratchDirectory> ScratchDirectory::make(std::string_view prefix) {
    std::error_code none;
    std::string path =
        cat(std::filesystem::temp_directory_path(none).string(), "/", prefix, "XXXXXX");
    if (::mkdtemp(path.data()) == nullptr) {
        return fail(Errc::unavailable, "workspace_not_writable",
                    cat("cannot make a directory like ", path, ": ", std::strerror(errno)));
    }
    return ScratchDirectory(std::move(path));
}

ScratchDirectory::~ScratchDirectory() {
    if (path_.empty() || kept_) return;
    // A kernel that is just ending may still write files; a later attempt deletes those.
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::error_code failed;
        std::filesystem::remove_all(path_, failed);
        if (!failed) return;
    }
}

}  // namespace quire::cli
