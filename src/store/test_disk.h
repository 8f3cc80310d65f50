// Where files are cheap, and short waits, for the store's tests.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/test_directory.h"
#include "base/words_for_test.h"
#include "store/store.h"

namespace quire::store {

// Where a file is cheap to make: for tests of what SQLite does, whose disk is of their own making.
inline std::string quick_parent() {
    return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : TestDirectory::usual_parent();
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
