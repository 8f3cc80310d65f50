#include "cli/whole_file.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cat.h"
#include "server/fd.h"

namespace quire::cli {
namespace {

Failure disk_error(const std::string& path) {
    return fail(Errc::unavailable, "disk", cat(path, ": ", std::strerror(errno)));
}

Result<void> replace(const std::string& path, std::string_view text, mode_t fresh, bool durable) {
    const std::string beside = path + ".swp";
    struct stat present = {};
    const mode_t mode = ::stat(path.c_str(), &present) == 0 ? present.st_mode & 0777U : fresh;
    {
        const server::Fd file(
            ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
        if (!file) return disk_error(beside);
        while (!text.empty()) {
            const ssize_t written = ::write(file.get(), text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return disk_error(beside);
            text.remove_prefix(static_cast<std::size_t>(written));
        }
        if (durable && ::fsync(file.get()) != 0) return disk_error(beside);
    }
    if (::rename(beside.c_str(), path.c_str()) != 0) return disk_error(path);
    return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
    const server::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return disk_error(path);
    std::string text;
    std::array<char, 65536> part;
    for (;;) {
        const ssize_t length = ::read(file.get(), part.data(), part.size());
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return disk_error(path);
        if (length == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(length));
    }
}

Result<void> replace_file(const std::string& path, std::string_view text) {
    return replace(path, text, 0644, false);
}

Result<void> keep_file(const std::string& path, std::string_view text) {
    return replace(path, text, 0600, true);
}

}  // namespace quire::cli
