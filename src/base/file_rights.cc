// The advice is found in the order in which the system refuses: a read-only file system, a
// directory above that may not be entered, another owner, and last the mode of the file itself.
#include "base/file_rights.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire {
namespace {

std::string octal(mode_t mode) {
    char digits[8] = {};
    std::snprintf(digits, sizeof digits, "%04o", static_cast<unsigned>(mode & 07777));
    return digits;
}

}  // namespace

std::string missing_rights(const std::string& file) {
    // The effective user counts (AT_EACCESS), as it does in open(). A file that is not there yet is
    // no missing right: whoever wants it may make it.
    if (::faccessat(AT_FDCWD, file.c_str(), R_OK | W_OK, AT_EACCESS) == 0 || errno == ENOENT)
        return "";
    if (errno == EROFS) return "it is on a file system that is mounted read-only";
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0) return "its directory may not be entered";
    if (status.st_uid != ::geteuid()) {
        return cat("it belongs to user ", status.st_uid, " and its mode is ", octal(status.st_mode),
                   ". Work as that user, or have it made yours with chown");
    }
    // A directory also needs the right to be entered.
    return cat("its mode is ", octal(status.st_mode), ". Run: chmod u+rw",
               S_ISDIR(status.st_mode) ? "x " : " ", file);
}

}  // namespace quire
