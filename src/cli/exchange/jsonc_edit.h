// Edits of one member in a JSON file that a person also edits: everything else keeps its bytes. The
// place's container is an object in the whole.
//
// The file may have comments and commas before closing brackets, as editors' settings do. Taking
// out a member that was put in gives back the text as it was before, byte for byte. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "cli/exchange/member_place.h"

namespace quire::cli {

// The member's value; none if there is none. Errors of all three: invalid_argument "invalid_json"
// {line} for a text that is not JSON with comments, and "not_an_object" when the whole or the
// container is something else.
Result<std::optional<Value>> jsonc_value(std::string_view text, const MemberPlace& place);

// The text with the member, which is replaced if it is there, and with the container, if it is not.
// New lines are indented as the others are. "" is taken for a new file.
Result<std::string> jsonc_with(std::string_view text, const MemberPlace& place, const Value& value);

// The text without the member, and without the container if jsonc_with() made it and it is now
// empty; "" if jsonc_with() made all of the text.
Result<std::string> jsonc_without(std::string_view text, const MemberPlace& place);

// Inserts the element at the front of the member's list, and makes the list if there is none. Error also:
// invalid_argument "not_a_list".
Result<std::string> jsonc_with_first(std::string_view text, const MemberPlace& place,
                                     const Value& element);
// Removes the element from the list, and the member with its last element. If jsonc_with_first() wrote the
// element, the rest of the list keeps its bytes.
Result<std::string> jsonc_without_element(std::string_view text, const MemberPlace& place,
                                          const Value& element);

}  // namespace quire::cli
