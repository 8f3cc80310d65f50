// BaseTexts: the bytes that adopted trees and the workspace have in common, by their hash.
//
// One file holds them all, each once, however many trees and paths have them; texts are compressed (LZ4).
// Bytes are only ever added at its end. A tail that a crash tore is cut off when it is opened. keep()
// writes a new file with those that are still wanted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/fd.h"
#include "base/result.h"
#include "fs/hash.h"

namespace quire::views {

// The bytes of a hash are already spread evenly, so half of them serves as the key of a hash table.
struct HashOfHash {
    std::size_t operator()(const fs::Hash& hash) const { return hash.low; }
};
// The set of bases that some tree still names.
using Hashes = std::unordered_set<fs::Hash, HashOfHash>;

// One thread at a time. Errors of every call: unavailable "io_error" {path}.
class BaseTexts {
public:
    // Reads the file's index: O(number of texts).
    static Result<BaseTexts> open(const std::string& file);

    bool has(const fs::Hash& hash) const { return places_.contains(hash); }
    // Adds the bytes, unless they are there. `hash` is fs::Hash::of(bytes); get() refuses others.
    // Durable after sync(), which has to come before a state that names the hash is kept. An error
    // leaves no part of them in the file.
    Result<void> add(const fs::Hash& hash, std::string_view bytes);
    // Reads, decompresses and checks the bytes. Errors: not_found "base_unknown"; corrupt "corrupt"
    // for bytes that do not have this hash.
    Result<std::string> get(const fs::Hash& hash) const;
    Result<void> sync();
    // Forgets the others, if they take more than half of the file. O(what stays) then.
    Result<void> keep(const Hashes& wanted);
    // The size of the file in bytes, with what keep() would remove.
    std::uint64_t size() const { return end_; }

private:
    struct Place {
        std::uint64_t at = 0;      // The offset of the stored bytes.
        std::uint64_t stored = 0;  // How many are stored,
        std::uint64_t size = 0;    // and how many they are.
    };

    BaseTexts(std::string file, Fd fd) : file_(std::move(file)), fd_(std::move(fd)) {}
    Result<void> read_index();
    Failure failed(const char* what) const;

    std::string file_;
    Fd fd_;
    std::uint64_t end_ = 0;
    bool is_named_ = false;  // The file's name is known to be durable.
    std::unordered_map<fs::Hash, Place, HashOfHash> places_;
};

}  // namespace quire::views
