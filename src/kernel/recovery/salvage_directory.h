// SalvageDirectory: a directory of new files. Nothing that is there is ever written over.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace quire::kernel {

class SalvageDirectory {
public:
    // Makes the directory, mode 0700; one that is there has to be empty. Its parent exists. Errors:
    // conflict "directory_not_empty" {directory}; unavailable "disk_full",
    // "directory_not_writable" {directory}.
    static Result<SalvageDirectory> make(const std::string& path);

    const std::string& path() const { return path_; }
    // Writes a new file, mode 0600, flushed. `name` is safe_name()s, with one directory before it at
    // most. Errors: conflict "file_exists"; unavailable "disk_full", "directory_not_writable".
    Result<void> put(const std::string& name, std::string_view bytes) const;

private:
    SalvageDirectory(std::string path, Fd directory);

    std::string path_;
    Fd directory_;
};

// The name as a part of a file's name: letters, digits and ". _ -" stay, any other byte becomes
// %XX; a long one is cut. It is no name of a directory, and may be empty.
std::string safe_name(std::string_view name);

}  // namespace quire::kernel
