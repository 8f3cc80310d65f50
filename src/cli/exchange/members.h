// Members of what the kernel answered: one that is not there, or is something else, reads as empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::cli {

inline std::string text_of(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}
inline std::int64_t number_of(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_int() ? value->as_int() : 0;
}
inline List list_of(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_list() ? value->as_list() : List();
}

}  // namespace quire::cli
