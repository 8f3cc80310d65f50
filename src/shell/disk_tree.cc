// Errors are not told from absence: the command that is predicted runs with the rights of this
// process or fewer, so it cannot look there either. A link that cannot be read has an empty target.
#include "shell/disk_tree.h"

#include <algorithm>
#include <memory>

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quire::shell {

TreeView::Entry DiskTree::look(const std::string& path) const {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return {};
    if (S_ISDIR(status.st_mode)) return {Kind::directory};
    if (!S_ISLNK(status.st_mode)) return {Kind::file};
    std::string target(PATH_MAX, '\0');
    const ssize_t size = readlink(path.c_str(), target.data(), target.size());
    target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return {Kind::link, std::move(target)};
}

std::vector<std::string> DiskTree::list(const std::string& directory) const {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(directory.c_str()), closedir);
    if (open == nullptr) return names;
    while (const dirent* const entry = readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace quire::shell
