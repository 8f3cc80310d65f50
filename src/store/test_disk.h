// Directories where files are cheap, and short waits, for the store's tests.
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

// A directory in which files are cheap, for tests of SQLite's behaviour on disks that they
// simulate themselves.
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

inline RecordKey token(std::string token, std::string actor) {
    return {.table = Table::tokens, .key = std::move(token), .owner = std::move(actor)};
}
inline RecordKey approval(std::string id) {
    return {.table = Table::approvals, .key = std::move(id)};
}
inline RecordKey fact(std::string agent, std::string key) {
    return {.table = Table::rule_facts, .key = std::move(key), .owner = std::move(agent)};
}
inline RecordKey pin(std::string mount) {
    return {.table = Table::mount_pins, .key = std::move(mount)};
}
inline Batch keeping(RecordKey key, std::string_view body) {
    Batch batch;
    batch.keep(std::move(key), body);
    return batch;
}

// A line for each record of a table: "OWNER KEY BODY", without an owner where there is none.
inline std::string all_of(Store& store, Table table) {
    std::string all;
    const std::vector<KeyedRecord> records = store.records(table).value();
    for (const KeyedRecord& each : records) {
        all += each.key.owner + (each.key.owner.empty() ? "" : " ") + each.key.key + " " +
               std::string(each.body.begin(), each.body.end()) + "\n";
    }
    return all;
}

}  // namespace quire::store
