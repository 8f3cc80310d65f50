// A container's body gives its value; slots that hold child containers ask those, down to a limit.
#include "crdt/doc/values.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

Value value_of(DocBody& document, Container& c, int depth, const Past* at) {
    if (depth > kMaxValueDepth) return nullptr;
    return visit(c, [&](auto& body) { return body.value({document, c}, depth, at); });
}

Value slot_value(DocBody& document, const Slot& slot, Lv lv, int depth, const Past* at) {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    const ContainerId child = document.child_id(lv, std::get<ContainerKind>(slot));
    return value_of(document, document.container(document.open(child)), depth + 1, at);
}

Item slot_item(const DocBody& document, const Slot& slot, Lv lv) {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    return document.child_id(lv, std::get<ContainerKind>(slot));
}

// Opening a root writes nothing, so roots without ops in the version are left out. O(containers),
// and at a version up to O(runs of each root).
std::vector<ContainerIndex> shown_roots(DocBody& document, const Past* at) {
    std::vector<ContainerIndex> roots;
    std::unordered_map<std::string_view, std::size_t> places;
    for (ContainerIndex i = 0; i < document.container_count(); ++i) {
        const ContainerId& name = document.name_of(i);
        // A mergeable child is shown in its map or nowhere.
        if (!name.is_root() || mergeable_parent(name)) continue;
        const ContainerLog& log = *document.container(i).log;
        if (log.empty()) continue;
        const auto is_written = [&](const Run& run) {
            return at == nullptr || at->contains(run.lv);
        };
        if (std::ranges::none_of(log.runs(), is_written)) continue;
        const auto [place, is_new] = places.try_emplace(name.root_name(), roots.size());
        if (is_new) {
            roots.push_back(i);
        } else if (name.kind < document.name_of(roots[place->second]).kind) {
            roots[place->second] = i;
        }
    }
    return roots;
}

Value root_value(DocBody& document, const Past* at) {
    Map roots;
    for (const ContainerIndex i : shown_roots(document, at))
        roots.append(document.name_of(i).root_name(),
                     value_of(document, document.container(i), 0, at));
    return roots;
}

}  // namespace quire::crdt
