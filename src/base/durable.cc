#include "base/durable.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/write_all.h"

namespace quire {
namespace {

Failure not_written(const std::string& path, std::string_view why) {
    return fail(Errc::unavailable, "io_error", cat("cannot write ", path, ": ", why),
                {{"path", path}});
}

}  // namespace

// O_EXCL refuses a name that is taken, by a link too.
Result<void> replace_durably(const std::string& path, std::string_view bytes) {
    const std::string draft = path + ".new";
    ::unlink(draft.c_str());
    const Fd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return not_written(path, std::strerror(errno));
    Result<void> done = write_all(fd.get(), bytes);
    if (done && ::fdatasync(fd.get()) == 0 && ::rename(draft.c_str(), path.c_str()) == 0)
        return sync_name(path);
    const Failure failed =
        not_written(path, done ? std::strerror(errno) : done.error().message().c_str());
    ::unlink(draft.c_str());
    return failed;
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

bool sync_directory_of(const std::string& path) {
    const Fd directory(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory && ::fsync(directory.get()) == 0;
}

Result<void> sync_name(const std::string& path) {
    if (!sync_directory_of(path)) return not_written(path, std::strerror(errno));
    return {};
}

}  // namespace quire
