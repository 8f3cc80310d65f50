// Temporary directories and short waits for the store's tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/words_for_test.h"
#include "store/store.h"

namespace quire::store {

class TempDirectory {
public:
    TempDirectory() : TempDirectory(std::filesystem::temp_directory_path().string()) {}
    explicit TempDirectory(const std::string& parent) {
        std::string pattern = parent + "/quire-store-XXXXXX";
        path_ = ::mkdtemp(pattern.data());
    }
    ~TempDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// Where a file is cheap to make: for tests of what SQLite does, whose disk is of their own making.
inline std::string quick_parent() {
    return std::filesystem::is_directory("/dev/shm")
               ? "/dev/shm"
               : std::filesystem::temp_directory_path().string();
}

// Hands `batch` over; the future has its answer.
inline std::future<Result<void>> start(Store& store, Batch batch) {
    auto promise = std::make_shared<std::promise<Result<void>>>();
    std::future<Result<void>> answer = promise->get_future();
    store.commit(std::move(batch),
                 [promise](Result<void> result) { promise->set_value(std::move(result)); });
    return answer;
}

inline Result<void> commit(Store& store, Batch batch) {
    return start(store, std::move(batch)).get();
}

inline Bytes bytes(std::string_view text) {
    return Bytes(text.begin(), text.end());
}

}  // namespace quire::store
