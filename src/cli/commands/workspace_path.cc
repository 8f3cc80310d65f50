#include "cli/commands/workspace_path.h"

#include <filesystem>
#include <system_error>

namespace quire::cli {

// Purely by names below the root: the file need not exist, and links in the path are the kernel's
// concern.
std::string workspace_path(const Globals& globals, const std::string& typed) {
    if (typed.empty()) return typed;
    namespace stdfs = std::filesystem;
    std::error_code failed;
    const stdfs::path root = stdfs::canonical(globals.workspace, failed);
    const stdfs::path here = globals.workspace_named ? root : stdfs::current_path(failed);
    if (failed) return typed;
    const stdfs::path below = (here / typed).lexically_normal().lexically_relative(root);
    const bool is_out = below.empty() || *below.begin() == "..";
    return is_out ? typed : below.string();
}

}  // namespace quire::cli
