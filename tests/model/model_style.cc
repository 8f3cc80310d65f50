#include "tests/model/model_style.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/model.h"

namespace quire::model {

using namespace crdt;

namespace {

// A style and the positions of both its anchors among the visible entities.
struct Style {
    StyleStart start;
    std::pair<Lamport, PeerId> rank;
    std::size_t begin;
    std::size_t end;
};

std::map<OpId, StyleStart> starts_in(std::span<const Change> changes) {
    std::map<OpId, StyleStart> starts;
    for (const Change& change : changes) {
        for (const Op& op : change.ops) {
            if (const auto* start = std::get_if<StyleStart>(&op.content))
                starts.emplace(OpId{change.id.peer, op.counter}, *start);
        }
    }
    return starts;
}

}  // namespace

TextDelta styled(std::span<const Change> changes, const ContainerId& text) {
    const std::vector<Entity> all = entities(changes, text);
    std::vector<Style> styles;
    for (const auto& [id, start] : starts_in(changes)) {
        std::optional<std::size_t> begin;
        std::optional<std::size_t> end;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].id == id) begin = i;
            if (all[i].id == OpId{id.peer, id.counter + 1}) end = i;
        }
        if (begin && end) styles.push_back({start, {all[*begin].lamport, id.peer}, *begin, *end});
    }
    TextDelta delta;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::map<std::string, const Style*> best;
        for (const Style& style : styles) {
            if (i < style.begin || i >= style.end) continue;
            const Style*& known = best[style.start.key];
            if (known == nullptr || known->rank < style.rank) known = &style;
        }
        Map attributes;
        for (const auto& [key, style] : best) {
            if (!style->start.value.is_null()) attributes.append(key, style->start.value);
        }
        put(delta, all[i].text, attributes);
    }
    return delta;
}

}  // namespace quire::model
