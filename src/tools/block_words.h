// The words of blocks, as tools take and answer them.
#pragma once

#include <cstddef>
#include <string_view>

#include "blocks/block.h"
#include "json/fields.h"

namespace quire::json {

template <>
struct Words<blocks::Role> {
    static constexpr std::size_t count = 4;
    static std::string_view word(blocks::Role role) { return blocks::name_of(role); }
};
template <>
struct Words<blocks::Kind> {
    static constexpr std::size_t count = 8;
    static std::string_view word(blocks::Kind kind) { return blocks::name_of(kind); }
};
template <>
struct Words<blocks::Status> {
    static constexpr std::size_t count = 4;
    static std::string_view word(blocks::Status status) { return blocks::name_of(status); }
};

}  // namespace quire::json
