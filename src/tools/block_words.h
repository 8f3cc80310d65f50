// The words of blocks, as tools take and answer them.
#pragma once

#include <cstddef>
#include <string_view>

#include "conversation/block.h"
#include "json/fields.h"

namespace quire::json {

template <>
struct Words<conversation::Role> {
    static constexpr std::size_t count = 4;
    static std::string_view word(conversation::Role role) { return conversation::name_of(role); }
};
template <>
struct Words<conversation::Kind> {
    static constexpr std::size_t count = 8;
    static std::string_view word(conversation::Kind kind) { return conversation::name_of(kind); }
};
template <>
struct Words<conversation::Status> {
    static constexpr std::size_t count = 4;
    static std::string_view word(conversation::Status status) {
        return conversation::name_of(status);
    }
};

}  // namespace quire::json
