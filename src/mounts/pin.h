// Pin: what of a mounted server's tools a person has approved, as it is kept. Pure.
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

struct Pin {
    std::vector<Definition> tools = {};
    ServerInfo server = {};  // That gave them first, or last as a whole.
    std::int64_t at_ms = 0;  // When it was last changed.

    const Definition* find(std::string_view name) const;
    // Puts it in the place of the one of its name, or at the end.
    void set(Definition tool);
};

// The member by which a body says that nothing was approved: a program was waited for in vain.
inline constexpr std::string_view kMissed = "missed";

Value to_value(const Pin& pin);
// Errors: corrupt, for what to_value() does not write.
Result<Pin> pin_of(const Value& body);

// How what a server lists differs from what was approved.
struct Change {
    enum class Kind { changed, added, gone };
    friend constexpr auto words_of(Kind) { return word_table("changed", "new", "gone"); }
    Kind kind = Kind::changed;
    std::string tool;
    // The parts of a tool that changed: "its description and its input schema".
    std::string what = {};
};
// In the order of the pin, then what is new in that of the listing. O(n²) of tools, of which there
// are kMostTools at most.
std::vector<Change> changes(const Pin& pin, const Listing& offered);

}  // namespace quire::mounts
