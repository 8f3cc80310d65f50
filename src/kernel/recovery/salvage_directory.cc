// Names are looked up beneath the descriptor of the directory, and every file is made with O_EXCL
// and O_NOFOLLOW: nothing is written over, and no link is followed out of the directory. That it
// has to be empty keeps two salvages apart.
#include "kernel/recovery/salvage_directory.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/hex.h"
#include "base/write_all.h"

namespace quire::kernel {
namespace {

// A file's name has at most 255 bytes, of which others add a few.
constexpr std::size_t kLongestName = 180;

Failure not_writable(const std::string& path, int error) {
    const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return fail(Errc::unavailable, is_full ? "disk_full" : "directory_not_writable",
                cat("cannot write ", path, ": ", std::strerror(error),
                    is_full ? ". Name a directory on another disk" : ""),
                {{"directory", path}});
}

bool is_empty(int directory) {
    // A descriptor of its own, since closedir() closes the one that it was given.
    const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0) return false;
    DIR* const entries = ::fdopendir(again);
    if (entries == nullptr) {
        ::close(again);
        return false;
    }
    bool empty = true;
    while (const dirent* const entry = ::readdir(entries)) {
        const std::string_view name = entry->d_name;
        empty = empty && (name == "." || name == "..");
    }
    ::closedir(entries);
    return empty;
}

}  // namespace

SalvageDirectory::SalvageDirectory(std::string path, Fd directory)
    : path_(std::move(path)), directory_(std::move(directory)) {}

Result<SalvageDirectory> SalvageDirectory::make(const std::string& path) {
    // Documents may hold what only their owner may read, so nobody else can enter.
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return not_writable(path, errno);
    Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return not_writable(path, errno);
    if (!is_empty(directory.get())) {
        return fail(Errc::conflict, "directory_not_empty",
                    cat(path, " is not empty, and nothing is written over; name a new directory"),
                    {{"directory", path}});
    }
    return SalvageDirectory(path, std::move(directory));
}

Result<void> SalvageDirectory::put(const std::string& name, std::string_view bytes) const {
    const std::string at = cat(path_, "/", name);
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
        const std::string parent = name.substr(0, slash);
        if (::mkdirat(directory_.get(), parent.c_str(), 0700) != 0 && errno != EEXIST)
            return not_writable(at, errno);
    }
    const Fd file(::openat(directory_.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) {
        return fail(Errc::conflict, "file_exists", cat(at, " is there already"), {{"file", at}});
    }
    if (!file) return not_writable(at, errno);
    const Result<void> written = write_all(file.get(), bytes);
    if (!written) {
        // A full disk has an error of its own, because its remedy is another directory.
        const Value* const error = written.error().details().find("errno");
        return not_writable(
            at, error != nullptr && error->is_int() ? static_cast<int>(error->as_int()) : EIO);
    }
    if (::fsync(file.get()) != 0) return not_writable(at, errno);
    return {};
}

std::string safe_name(std::string_view name) {
    std::string out;
    for (const char c : name) {
        if (out.size() >= kLongestName) break;
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                              (c == '.' && !out.empty());
        if (is_plain) {
            out += c;
        } else {
            out += '%';
            append_hex(out, static_cast<std::uint8_t>(c), kUpperHex);
        }
    }
    return out;
}

}  // namespace quire::kernel
