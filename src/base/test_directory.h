// A directory of a test's or a benchmark's own, gone with it, and the hand of another program in
// it.
//
// Tests write the workspace's files with put() as an editor would: without asking the kernel. Every
// function CHECKs or throws when the file system refuses, because a test cannot go on then.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/concat.h"
#include "base/file_text.h"

namespace quire {

class TestDirectory {
public:
    static std::string usual_parent() { return std::filesystem::temp_directory_path().string(); }
    // The directory named by the environment variable, or the usual one. Tests about a certain file
    // system name a directory on it so.
    static std::string parent_in(const char* variable) {
        const char* const chosen = std::getenv(variable);
        return chosen == nullptr ? usual_parent() : chosen;
    }

    // Makes a new directory, which nobody else has, below `parent`.
    explicit TestDirectory(const std::string& parent = usual_parent())
        // mkdtemp() fills in the last six.
        : path_(cat(parent, "/quire-test-", std::string(6, 'X'))) {
        CHECK(::mkdtemp(path_.data()) != nullptr);
        // Without links, because the kernel shows paths so and tests compare them.
        path_ = std::filesystem::canonical(path_).string();
    }
    ~TestDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TestDirectory(const TestDirectory&) = delete;
    TestDirectory& operator=(const TestDirectory&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(std::string_view name) const { return cat(path_, "/", name); }

    // Replaces the bytes of a file in place, and makes the directories above it. Not atomic, as
    // many editors are not.
    void put(const std::string& name, std::string_view bytes) const {
        const std::filesystem::path file = *this / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream out(file, std::ios::binary | std::ios::trunc);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        CHECK(out.good());
    }
    // Makes a symbolic link. `target` may not exist; it is stored as it stands.
    void link(const std::string& name, const std::string& target) const {
        const std::filesystem::path file = *this / name;
        std::filesystem::create_directories(file.parent_path());
        std::filesystem::create_symlink(target, file);
    }
    // Removes a file, or a directory with all that is in it.
    void erase(const std::string& name) const { std::filesystem::remove_all(*this / name); }
    bool has(const std::string& name) const { return std::filesystem::exists(*this / name); }
    // The bytes of a file; "" if it cannot be read.
    std::string get(const std::string& name) const { return file_text(*this / name); }

private:
    std::string path_;
};

}  // namespace quire
