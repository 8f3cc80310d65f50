// Values of containers, now or at a version.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

Value DocBody::value(Container& c, int depth, const Past* at) {
    if (depth > kMaxValueDepth) return nullptr;
    return visit(c, [&](auto& body) { return body.value({*this, c}, depth, at); });
}

Value DocBody::slot_value(const Slot& slot, Lv lv, int depth, const Past* at) {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    const ContainerIndex child = open(child_id(lv, std::get<ContainerKind>(slot)));
    return value(containers_[child], depth + 1, at);
}

Item DocBody::slot_item(const Slot& slot, Lv lv) const {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    return child_id(lv, std::get<ContainerKind>(slot));
}

Value DocBody::root_value(const Past* at) {
    Map roots;
    // open() may add containers while we go.
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        Container& c = containers_[i];
        // A mergeable child is shown in its map or nowhere.
        if (!c.id.is_root() || log_of(c).empty() || mergeable_parent(c.id)) continue;
        if (at != nullptr && !at->contains(log_of(c).runs().front().lv)) {
            const auto& runs = log_of(c).runs();
            if (std::none_of(runs.begin(), runs.end(),
                             [&](const Run& run) { return at->contains(run.lv); })) {
                continue;
            }
        }
        roots.set(c.id.root_name(), value(c, 0, at));
    }
    return roots;
}

}  // namespace quire::crdt
