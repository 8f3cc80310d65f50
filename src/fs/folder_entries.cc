// Reading a folder needs a descriptor of its own: readdir moves its offset and closedir closes it,
// and the caller's may be shared or opened for its path alone.
#include "fs/folder_entries.h"

#include <cerrno>
#include <cstddef>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/beneath.h"

namespace quire::fs {
namespace {

constexpr std::size_t kMaxIgnoreFile = std::size_t{1} << 20;

}  // namespace

Result<std::vector<FolderEntry>> entries_in(int folder, const std::string& path) {
    const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const stream = own < 0 ? nullptr : ::fdopendir(own);
    if (stream == nullptr) {
        const int error = errno;
        if (own >= 0) ::close(own);
        return system_failure(error, path, "cannot list");
    }
    std::vector<FolderEntry> entries;
    while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") entries.push_back({std::string(name), entry->d_type});
    }
    ::closedir(stream);
    return entries;
}

std::optional<std::string> ignore_file_at(int root, const std::string& path) {
    // O_NONBLOCK: somebody may have made a fifo of that name, and opening it must not wait for a
    // writer.
    const auto file = open_beneath(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat status = {};
    if (!file || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    auto content =
        read_all(file->get(), static_cast<std::size_t>(status.st_size), kMaxIgnoreFile, path);
    if (!content || content->size() > kMaxIgnoreFile) return {};
    return std::move(*content);
}

}  // namespace quire::fs
