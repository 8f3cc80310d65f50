// ScratchDirectory: a temporary directory that is deleted with its content when the object is.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace quire::cli {

class ScratchDirectory {
public:
    // Makes a directory in TMPDIR or /tmp whose name begins with `prefix` and which only its owner
    // may enter. Errors: unavailable "workspace_not_writable".
    static Result<ScratchDirectory> make(std::string_view prefix);
    ScratchDirectory(ScratchDirectory&& other) noexcept
        : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}
    ScratchDirectory& operator=(ScratchDirectory&&) = delete;
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    const std::string& path() const { return path_; }
    // Keeps the directory when the object is destroyed.
    void keep() { kept_ = true; }
    bool is_kept() const { return kept_; }

private:
    explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
    std::string path_;
    bool kept_ = false;
};

}  // namespace quire::cli
