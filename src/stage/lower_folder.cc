// The rules are those of Linux's overlay: the newest layer that has a name decides; a whiteout
// hides the name in all below it; directories of one name are merged until one is opaque or another
// kind is in the way.
#include "stage/lower_folder.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/concat.h"
#include "stage/changes.h"

namespace quire::stage {
namespace {

struct StreamCloser {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

Fd open_folder_at(int at, const std::string& name) {
    return Fd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> names_of(int folder) {
    std::vector<std::string> out;
    const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, StreamCloser> stream(own < 0 ? nullptr : ::fdopendir(own));
    if (stream == nullptr) return out;
    while (const dirent* const entry = ::readdir(stream.get())) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") out.push_back(std::move(name));
    }
    return out;
}

}  // namespace

bool is_whiteout(const struct stat& found) {
    return S_ISCHR(found.st_mode) && found.st_rdev == makedev(0, 0);
}

bool is_opaque(int directory) {
    char value = 0;
    return ::fgetxattr(directory, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

Result<LowerFolder> LowerFolder::open(const std::vector<std::string>& layers,
                                      const std::string& live) {
    LowerFolder out;
    const auto add = [&](const std::string& path, bool is_live) -> Result<void> {
        Fd folder = open_folder_at(AT_FDCWD, path);
        if (!folder) {
            return fail(Errc::unavailable, "io_error", cat(path, ": ", std::strerror(errno)),
                        {{"path", path}});
        }
        out.parts_.push_back({std::move(folder), is_live});
        return {};
    };
    for (const std::string& layer : layers) TRY(add(layer, false));
    TRY(add(live, true));
    return out;
}

std::optional<LowerFolder::Found> LowerFolder::look(const std::string& name) const {
    for (const Part& part : parts_) {
        Found found{{}, part.folder.get(), part.is_live};
        if (::fstatat(found.folder, name.c_str(), &found.status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!part.is_live && is_whiteout(found.status)) return std::nullopt;
        return found;
    }
    return std::nullopt;
}

LowerFolder LowerFolder::enter(const std::string& name) const {
    LowerFolder out;
    for (const Part& part : parts_) {
        struct stat found {};
        if (::fstatat(part.folder.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        // A whiteout ends the search here too: it is a device and no directory.
        if (!S_ISDIR(found.st_mode)) break;
        Fd folder = open_folder_at(part.folder.get(), name);
        if (!folder) break;
        const bool is_last = !part.is_live && is_opaque(folder.get());
        out.parts_.push_back({std::move(folder), part.is_live});
        if (is_last) break;
    }
    return out;
}

std::vector<std::string> LowerFolder::names() const {
    std::map<std::string, bool> seen;  // With whether it shows.
    for (const Part& part : parts_) {
        for (std::string& name : names_of(part.folder.get())) {
            if (seen.contains(name)) continue;
            struct stat found {};
            const bool is_there =
                ::fstatat(part.folder.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
            if (!is_there) continue;
            seen.emplace(std::move(name), part.is_live || !is_whiteout(found));
        }
    }
    std::vector<std::string> out;
    for (const auto& [name, shows] : seen) {
        if (shows) out.push_back(name);
    }
    return out;
}

Result<std::string> lower_bytes(const std::vector<std::string>& layers, const std::string& path,
                                std::size_t limit) {
    for (const std::string& layer : layers) {
        struct stat found {};
        if (::lstat(cat(layer, "/", path).c_str(), &found) != 0) continue;
        if (!S_ISREG(found.st_mode)) break;
        return staged_bytes(layer, path, limit);
    }
    return fail(Errc::not_found, "file_not_found", cat("the command saw no file ", path),
                {{"path", path}});
}

}  // namespace quire::stage
