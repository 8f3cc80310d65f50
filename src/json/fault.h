// Fault: why a value is not what its reader expects, and at which member.
//
// Reading (json/codec.h, json/fields.h) fails with a Fault. It becomes an Error with the code and
// the reason that the caller chooses; where the caller says nothing, TRY makes it invalid_argument
// "invalid_argument" {path}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/enum_words.h"
#include "base/result.h"
#include "base/value.h"

namespace quire::json {

// One fault: its kind for programs, its words for people, and the path of the member. `problem`
// goes on after the name of the member, so it begins with a verb.
struct Fault {
    // The member is absent, of another type, of the right type but unusable, or unknown to the
    // reader.
    enum class Kind : std::uint8_t { missing, wrong_type, bad_value, unknown_member };
    friend constexpr auto words_of(Kind) {
        return word_table("missing", "wrong_type", "bad_value", "unknown_member");
    }

    Kind kind = Kind::wrong_type;
    std::string problem;      // "must be a string, not an integer"
    std::string wanted = {};  // "a string"; for an unknown member the known ones: "name, size".
    std::string path = {};    // "shares[2].with"; "" for the value as a whole.

    // This fault, seen from the object or the array around it.
    Fault in_member(std::string_view name) &&;
    Fault in_item(std::size_t index) &&;

    std::string message() const;  // "`shares[2].with` must be a string, not an integer"
    // The fault as an Error with this code and reason; its details hold the path.
    Error error(Errc code, std::string reason) const;
    // The conversion that TRY uses: invalid_argument "invalid_argument" {path}.
    operator Error() const;  // NOLINT(google-explicit-constructor)
};

// The result of reading a T: the value, or the first fault found.
template <class T>
using Read = tl::expected<T, Fault>;
// The failed half of a Read; `return Unread(fault)`.
using Unread = tl::unexpected<Fault>;

// "must be `wanted`, not a KIND".
Unread wrong_type(std::string_view wanted, const Value& found);
// A member that is not there; `wanted` says what it must be, where that is known.
Unread missing(std::string name, std::string wanted);
// A value of the right type that cannot be used; `problem` follows the path in the message.
// `wanted` goes into the fault for programs, and not into the message.
Unread bad_value(std::string problem, std::string wanted = {});

// The first of the rules minimum, maximum, minLength, maxLength (code points), minItems and maxItems
// of a JSON Schema that `value` breaks.
std::optional<Fault> broken_rule(const Map& schema, const Value& value);

}  // namespace quire::json
