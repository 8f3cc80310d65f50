// A history of numbered batches, which shows how much of it a store has and whether that is whole;
// and the hands that damage a store's files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "store/store.h"
#include "store/test_disk.h"

namespace quire::store {

inline std::unique_ptr<Store> open_at(const TestDirectory& directory) {
    Result<Opened> opened = open_sqlite(directory / "quire.db");
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? std::move(opened->store) : nullptr;
}

// The `number`th of a history that shows whether all of a batch is there, and whether every batch
// before it is.
inline Batch numbered(int number, std::size_t size = 300) {
    Bytes bytes(size, static_cast<std::uint8_t>(number));
    bytes[0] = static_cast<std::uint8_t>(number);
    return {.updates = {{1, std::move(bytes)}},
            .blocks = {{.document = 1,
                        .block = "last",
                        .version = static_cast<std::uint64_t>(number),
                        .header = {}}}};
}

// How many batches of that history a store holds; -1 when it is not whole.
inline int history_length(Store& store) {
    const Result<StoredDocument> stored = store.load(1);
    if (!stored) return -1;
    const std::size_t count = stored->updates.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (stored->updates[i].at(0) != i) return -1;
    }
    if (count == 0) return stored->blocks.empty() ? 0 : -1;
    const bool whole = stored->blocks.size() == 1 && stored->blocks[0].version == count - 1;
    return whole ? static_cast<int>(count) : -1;
}

// Writes `count` batches of the history in a process that then ends like a killed one: nothing is
// closed. After the batch before the last, the mark is copied to "earlier-commit".
inline void leave_killed_store(const TestDirectory& directory, int count) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto opened = open_sqlite(directory / "quire.db");
        for (int i = 0; i < count; ++i) {
            if (i == count - 1) {
                std::filesystem::copy_file(directory / kLastCommitFile,
                                           directory / "earlier-commit");
            }
            static_cast<void>(commit(*opened->store, numbered(i)));
        }
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
}

// Changes `length` bytes of a file, each into another one. A constant byte would leave one in 256
// random bytes as it was, and a test that expects damage would find none.
inline void damage(const std::string& path, std::size_t at, std::size_t length) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    std::string bytes(length, '\0');
    file.seekg(static_cast<std::streamoff>(at));
    file.read(bytes.data(), static_cast<std::streamsize>(length));
    file.clear();  // A file that ends before `length` bytes is extended.
    for (char& byte : bytes) byte = static_cast<char>(byte ^ '\xa5');
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
}

inline void replace_file(const std::string& path, const std::string& by) {
    std::filesystem::copy_file(by, path, std::filesystem::copy_options::overwrite_existing);
}

}  // namespace quire::store
