#include "store/directory.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

namespace quire::store {

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

bool flush_directory(const std::string& path) {
    const Fd directory(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory && ::fsync(directory.get()) == 0;
}

}  // namespace quire::store
