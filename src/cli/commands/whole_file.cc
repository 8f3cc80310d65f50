// A file is replaced by writing a new one beside it and renaming that over it, so a reader sees the
// old or the new text and a crash leaves one of them. The new file is in the same directory, since
// a rename does not cross file systems.
#include "cli/commands/whole_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/durable.h"
#include "base/fd.h"
#include "base/write_all.h"

namespace quire::cli {
namespace {

Failure disk_error(const std::string& path, std::string_view why) {
    return fail(Errc::unavailable, "disk", cat(path, ": ", why));
}
Failure disk_error(const std::string& path) {
    return disk_error(path, std::strerror(errno));
}

Result<void> write_to(const Fd& file, std::string_view text, const std::string& named) {
    const Result<void> written = write_all(file.get(), text);
    return written ? written : disk_error(named, written.error().message());
}

// A new file beside `path`, under a name that is free.
struct Beside {
    std::string path;
    Fd file;
};
// The name is that of an editor's swap file, which ignore files usually leave out. O_EXCL follows
// no link that somebody has put there.
Beside make_beside(const std::string& path, mode_t mode) {
    constexpr int kTries = 1000;
    Beside out;
    for (int i = 0; i < kTries; ++i) {
        out.path = cat(path, ".", ::getpid(), "-", i, ".swp");
        out.file = Fd(::open(out.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        if (out.file || errno != EEXIST) break;
    }
    return out;
}

// The path behind links: the link stays, its target is replaced.
std::string behind_links(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    return real != nullptr ? std::string(real.get()) : path;
}

// `named` is what the person typed, for messages; `path` is the file behind links. `fresh` is the
// mode of a file that is new.
Result<void> replace(const std::string& named, std::string_view text, mode_t fresh, bool durable) {
    const std::string path = behind_links(named);
    struct stat present = {};
    const bool exists = ::stat(path.c_str(), &present) == 0;
    if (exists && !S_ISREG(present.st_mode)) {
        // A pipe or a terminal is written to; a directory fails to open.
        const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        return file ? write_to(file, text, named) : disk_error(named);
    }
    const mode_t mode = exists ? present.st_mode & 0777U : fresh;
    const Beside beside = make_beside(path, mode);
    if (!beside.file) return disk_error(beside.path);
    Result<void> done = write_to(beside.file, text, named);
    // The mode is set again because open() subtracts the umask from it.
    const bool placed = done && (!exists || ::fchmod(beside.file.get(), mode) == 0) &&
                        (!durable || ::fsync(beside.file.get()) == 0) &&
                        ::rename(beside.path.c_str(), path.c_str()) == 0;
    if (placed && (!durable || sync_name(path))) return {};
    if (done) done = disk_error(named);
    ::unlink(beside.path.c_str());
    return done;
}

}  // namespace

std::string read_standard_input() {
    std::string text;
    char part[65536];
    while (const std::size_t length = std::fread(part, 1, sizeof part, stdin))
        text.append(part, length);
    return text;
}

Result<std::string> read_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
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
