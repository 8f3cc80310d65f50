// A workspace in a temporary directory, a log that is not kept, and waiting for what another thread
// does, for this room's tests.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "base/log.h"

namespace quire::server {

class NoLog final : public LogSink {
public:
    void write(LogLevel, std::string_view) override {}
};

class TestWorkspace {
public:
    explicit TestWorkspace(const std::string& below = "") {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "quire-server-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        path_ = root_ + below;
        std::filesystem::create_directories(path_);
    }
    ~TestWorkspace() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    TestWorkspace(const TestWorkspace&) = delete;
    TestWorkspace& operator=(const TestWorkspace&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string root_, path_;
};

// Whether `condition` holds within 20 seconds.
template <class Condition>
bool comes_true(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace quire::server
