// Marks: what the readers of a conversation note on a block, beside its text and its status.
#pragma once

#include <array>
#include <string_view>

namespace quire::conversation {

struct Marks {
    bool excluded = false;   // A model is not to see it.
    bool collapsed = false;  // Shown by its first line.
    bool ephemeral = false;  // Useful for a moment only, and so not to be seen either.

    bool is_hidden() const { return excluded || ephemeral; }
    friend bool operator==(const Marks&, const Marks&) = default;
};
// Each mark, by the key under which the Map of a block has it.
struct MarkField {
    std::string_view key;
    bool Marks::*flag;
};
inline constexpr std::array<MarkField, 3> kMarkFields = {{{"excluded", &Marks::excluded},
                                                          {"collapsed", &Marks::collapsed},
                                                          {"ephemeral", &Marks::ephemeral}}};

}  // namespace quire::conversation
