// Members of an object that nobody has checked, such as a stranger's: a member that is missing, or
// of another type, reads as empty. Where that would be an error, use json::read() (json/fields.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::json {

// All of them may be asked of a value that is no object: it has no members.
inline bool has_text(const Value& object, std::string_view member) {
    const Value* const value = object.get(member);
    return value != nullptr && value->is_string();
}
inline std::string text_in(const Value& object, std::string_view member) {
    return has_text(object, member) ? object.get(member)->as_string() : "";
}
// An integer. A float reads as 0, one without fraction too.
inline std::int64_t number_in(const Value& object, std::string_view member) {
    const Value* const value = object.get(member);
    return value != nullptr && value->is_int() ? value->as_int() : 0;
}
// A copy: O(the list).
inline List list_in(const Value& object, std::string_view member) {
    const Value* const value = object.get(member);
    return value != nullptr && value->is_list() ? value->as_list() : List();
}

// Null, false, "", [] or {}. A number always says something, 0 too.
inline bool says_nothing(const Value& value) {
    return value.is_null() || value == Value(false) ||
           (value.is_string() && value.as_string().empty()) ||
           (value.is_list() && value.as_list().empty()) ||
           (value.is_map() && value.as_map().empty());
}

}  // namespace quire::json
