#include "crdt/ids/diff.h"

#include <string_view>
#include <utility>

namespace quire::crdt {

// A counter's delta has no steps; it changes nothing if it adds 0.
bool is_empty(const Delta& delta) {
    if (const auto* counter = std::get_if<CounterDelta>(&delta)) return counter->increment == 0;
    return std::visit(
        [](const auto& steps) {
            if constexpr (requires { steps.empty(); }) return steps.empty();
            return false;
        },
        delta);
}

// Joins text with equal styles, so that equal changes give equal deltas.
void put(TextDelta& delta, std::string_view text, const Map& attributes) {
    if (text.empty()) return;
    if (!delta.empty()) {
        auto* last = std::get_if<PutText>(&delta.back());
        if (last != nullptr && last->attributes == attributes) {
            last->text += text;
            return;
        }
    }
    delta.push_back(PutText{std::string(text), attributes});
}

// Items that follow each other are one step, so that equal changes give equal deltas.
void put(ListDelta& delta, Item item) {
    if (!delta.empty()) {
        if (auto* last = std::get_if<PutItems>(&delta.back())) {
            last->items.push_back(std::move(item));
            return;
        }
    }
    PutItems put;
    put.items.push_back(std::move(item));
    delta.push_back(std::move(put));
}

}  // namespace quire::crdt
