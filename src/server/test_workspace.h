// A workspace in a temporary directory, a log that is not kept, and waiting for what another thread
// does, for this room's tests.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/test_directory.h"

namespace quire::server {

class NoLog final : public LogSink {
public:
    void write(LogLevel, std::string_view) override {}
};

class TestWorkspace {
public:
    explicit TestWorkspace(const std::string& below = "") : path_(root_.path() + below) {
        std::filesystem::create_directories(path_);
    }
    const std::string& path() const { return path_; }

private:
    const TestDirectory root_;
    const std::string path_;
};

// Returns true if `condition` holds within a minute: a slow machine under load takes its time.
template <class Condition>
bool comes_true(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace quire::server
