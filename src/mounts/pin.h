// Pin: the part of a mounted server's tools that a person has approved, in the form that is
// stored. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "base/value.h"
#include "mounts/definition.h"
#include "mounts/protocol.h"

namespace quire::mounts {

// The approved tools of one mount, in the order of the server's list.
struct Pin {
    std::vector<Definition> tools = {};
    ServerInfo server = {};  // That gave them first, or last as a whole.
    std::int64_t at_ms = 0;  // When it was last changed.

    // The approved definition of a tool; null if it has none.
    const Definition* find(std::string_view name) const;
    // Replaces the definition with that name, or appends it.
    void set(Definition tool);
};

// The member of a stored body which says that a program was waited for in vain, so nothing was
// approved.
inline constexpr std::string_view kMissed = "missed";

Value to_value(const Pin& pin);
// Errors: corrupt, for what to_value() does not write.
Result<Pin> pin_of(const Value& body);

// One difference between the approved tools and a new list.
struct Change {
    enum class Kind { changed, added, gone };
    friend constexpr auto words_of(Kind) { return word_table("changed", "new", "gone"); }
    Kind kind = Kind::changed;
    std::string tool;
    // The parts of a tool that changed: "its description and its input schema".
    std::string what = {};
};
// The differences: those of approved tools in the order of the pin, then new tools in the order
// of the list. O(n²) of tools, of which there are at most kMostTools.
std::vector<Change> changes(const Pin& pin, const Listing& offered);

}  // namespace quire::mounts
