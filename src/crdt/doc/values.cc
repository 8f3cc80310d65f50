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

// Roots of several kinds may have one name. Whatever the order in which they came, the first of
// ContainerKind is shown, so that two documents with one history show one value.
Value root_value(DocBody& document, const Past* at) {
    Map roots;
    std::unordered_map<std::string_view, ContainerKind> shown;
    // open() may add containers while we go.
    for (ContainerIndex i = 0; i < document.container_count(); ++i) {
        const ContainerId& name = document.name_of(i);
        // A mergeable child is shown in its map or nowhere.
        if (!name.is_root() || mergeable_parent(name)) continue;
        Container& c = document.container(i);
        if (c.log->empty()) continue;
        if (at != nullptr && !at->contains(c.log->runs().front().lv)) {
            const auto& runs = c.log->runs();
            if (std::none_of(runs.begin(), runs.end(),
                             [&](const Run& run) { return at->contains(run.lv); })) {
                continue;
            }
        }
        const auto [first, is_new] = shown.try_emplace(name.root_name(), name.kind);
        if (is_new) {
            roots.append(name.root_name(), value_of(document, c, 0, at));
        } else if (name.kind < first->second) {
            first->second = name.kind;
            roots.set(name.root_name(), value_of(document, c, 0, at));
        }
    }
    return roots;
}

}  // namespace quire::crdt
