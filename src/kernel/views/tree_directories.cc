#include "kernel/views/tree_directories.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/concat.h"

namespace quire::kernel {

bool is_directory(const std::string& root, const std::string& path) {
    namespace disk = std::filesystem;
    std::error_code gone;
    return disk::is_directory(disk::symlink_status(cat(root, "/", path), gone));
}

std::vector<std::string> directories_in_place(const std::string& root, const std::string& path) {
    namespace disk = std::filesystem;
    std::vector<std::string> out;
    if (!is_directory(root, path)) return out;
    out.push_back(path);
    // A step of the iterator throws where a directory cannot be read, unless it is asked not to.
    std::error_code failed;
    disk::recursive_directory_iterator below(
        cat(root, "/", path), disk::directory_options::skip_permission_denied, failed);
    for (; !failed && below != disk::end(below); below.increment(failed)) {
        std::string inner = below->path().lexically_relative(root).string();
        if (is_directory(root, inner)) out.push_back(std::move(inner));
    }
    return out;
}

void remove_empty_directories(const fs::DiskEntries& entries, const std::string& path) {
    for (std::size_t at = path.rfind('/'); at != std::string::npos;
         at = at == 0 ? std::string::npos : path.rfind('/', at - 1))
        static_cast<void>(entries.remove_directory(path.substr(0, at)));
}

}  // namespace quire::kernel
