// StoreContract: the promises of every store are tested on both implementations.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "store/memory_store_for_test.h"
#include "store/store.h"
#include "store/test_disk.h"

namespace quire::store {

class OnMemory {
public:
    void open() { store_ = std::make_unique<MemoryStore>(disk_); }
    void close() { store_.reset(); }
    Store& store() { return *store_; }
    void fill_disk() { disk_->set_full(true); }
    void free_disk() { disk_->set_full(false); }

private:
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<Store> store_;
};

class OnSqlite {
public:
    OnSqlite() { std::signal(SIGXFSZ, SIG_IGN); }
    OnSqlite(const OnSqlite&) = delete;
    OnSqlite& operator=(const OnSqlite&) = delete;
    ~OnSqlite() { free_disk(); }
    void open() {
        Result<Opened> opened = open_sqlite(directory_ / "quire.db");
        ASSERT_TRUE(opened) << opened.error().message();
        store_ = std::move(opened->store);
    }
    void close() { store_.reset(); }
    Store& store() { return *store_; }
    // No file may grow beyond what the small batches of these tests need.
    void fill_disk() { limit_files(1U << 20); }
    void free_disk() { limit_files(RLIM_INFINITY); }

private:
    static void limit_files(rlim_t bytes) {
        rlimit limit = {};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = std::min(bytes, limit.rlim_max);
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    TestDirectory directory_;
    std::unique_ptr<Store> store_;
};

template <class Disk>
class StoreContract : public ::testing::Test {
protected:
    void SetUp() override { disk_.open(); }
    void reopen() {
        disk_.close();
        disk_.open();
    }
    Store& store() { return disk_.store(); }
    Disk disk_;
};

using Disks = ::testing::Types<OnMemory, OnSqlite>;
TYPED_TEST_SUITE(StoreContract, Disks);

inline DocumentRecord document(DocumentKey key, const std::string& name) {
    return {.key = key,
            .kind = "conversation",
            .name = name,
            .deleted = false,
            .header = bytes("header")};
}

inline Batch update(DocumentKey key, std::string_view text) {
    return {.updates = {{key, bytes(text)}}};
}

inline Batch block(DocumentKey key, const std::string& id, std::uint64_t version) {
    return {.blocks = {{.document = key, .block = id, .version = version, .header = bytes(id)}}};
}

inline Batch huge(DocumentKey key) {
    return {.updates = {{key, Bytes(std::size_t{8} << 20, 7)}}};
}

inline std::vector<std::string> texts(const StoredDocument& stored) {
    std::vector<std::string> all;
    for (const Bytes& update : stored.updates) all.emplace_back(update.begin(), update.end());
    return all;
}

using Texts = std::vector<std::string>;

}  // namespace quire::store
