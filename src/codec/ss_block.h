// One block of a table (sstable.h), decompressed and known to be well formed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace quire::codec {

class SsBlock {
public:
    // `owner` holds `body`, or is null when the table's own bytes do. Errors: corrupt.
    static Result<std::shared_ptr<const SsBlock>> large(std::string_view key,
                                                        std::span<const std::uint8_t> body,
                                                        std::shared_ptr<const Bytes> owner);
    static Result<std::shared_ptr<const SsBlock>> normal(std::string_view first_key,
                                                         std::string_view last_key,
                                                         std::span<const std::uint8_t> body,
                                                         std::shared_ptr<const Bytes> owner);

    std::size_t size() const { return count_; }
    Bytes key(std::size_t index) const;
    std::span<const std::uint8_t> value(std::size_t index) const;
    const std::shared_ptr<const Bytes>& owner() const { return owner_; }
    // The first entry whose key is not less than `key`; size() when there is none. O(log n).
    std::size_t lower_bound(std::string_view key) const;
    bool has_key(std::size_t index, std::string_view key) const { return compare(index, key) == 0; }

private:
    // An entry's key is two parts: a prefix of the first key, and a rest.
    struct Parts {
        std::string_view prefix;
        std::string_view rest;
    };

    std::size_t offset(std::size_t index) const;
    std::size_t end_of(std::size_t index) const {
        return index + 1 < count_ ? offset(index + 1) : entries_.size();
    }
    Parts parts(std::size_t index) const;
    int compare(std::size_t index, std::string_view key) const;
    Result<void> verify(std::string_view last_key) const;

    std::string_view first_key_;
    std::span<const std::uint8_t> entries_;
    std::span<const std::uint8_t> offsets_;
    std::size_t count_ = 0;
    std::shared_ptr<const Bytes> owner_;
};

}  // namespace quire::codec
