// The words of an enum: one table, declared beside the enum, from which it is printed, parsed,
// listed, and published as a JSON Schema (json/fields.h).
//
//     enum class Role { user, model };
//     constexpr auto words_of(Role) { return word_table("user", "model"); }
//
// The table is found by the namespace of the enum; a friend function serves an enum within a class.
// It gives the words in the order of the enumerators, which count from 0 without gaps. Printing is
// O(1); parsing compares with each word in turn.
//
// Nothing checks the order of a table, so it stands right below its enum.
//
//     name_of(Role::model)                  "model"
//     enum_named<Role>("model")             Role::model
//     parse_enum<Role>("role", "modle")     there is no role "modle"; it is one of user model
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/concat.h"
#include "base/result.h"

namespace quire {

// The table of an enum, in the order of its enumerators. The words must be literals, or live as
// long as the program.
template <class... Words>
constexpr std::array<std::string_view, sizeof...(Words)> word_table(const Words&... words) {
    return {words...};
}

// An enum that has a table.
template <class Enum>
concept WordedEnum = std::is_enum_v<Enum> && requires {
    words_of(Enum{});
};

// The words of an enum.
template <WordedEnum Enum>
inline constexpr auto kWords = words_of(Enum{});

namespace detail {
template <WordedEnum Enum>
constexpr auto enumerators() {
    std::array<Enum, kWords<Enum>.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Enum>(i);
    return out;
}
}  // namespace detail

// Every enumerator, in order: for lists in help texts and schemas.
template <WordedEnum Enum>
inline constexpr auto kEvery = detail::enumerators<Enum>();

// The word of an enumerator. O(1). Requires an enumerator: a number that was cast to the enum reads
// beyond the table.
template <WordedEnum Enum>
constexpr std::string_view name_of(Enum value) {
    return kWords<Enum>[static_cast<std::size_t>(value)];
}

// The enumerator with this word; none if no enumerator has it.
template <WordedEnum Enum>
constexpr std::optional<Enum> enum_named(std::string_view word) {
    for (const Enum each : kEvery<Enum>) {
        if (name_of(each) == word) return each;
    }
    return std::nullopt;
}

// All words of an enum in one text: "user, model".
template <WordedEnum Enum>
std::string listed_words(std::string_view separator = ", ") {
    return joined(kWords<Enum>, separator);
}

// Errors: invalid_argument "invalid_argument": there is no `what` "WORD"; it lists the valid words.
template <WordedEnum Enum>
Result<Enum> parse_enum(std::string_view what, std::string_view word) {
    if (const std::optional<Enum> value = enum_named<Enum>(word)) return *value;
    return invalid("invalid_argument", cat("there is no ", what, " \"", word, "\"; it is one of ",
                                           listed_words<Enum>(" ")));
}

}  // namespace quire
