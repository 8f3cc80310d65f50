#include "crdt/doc/validate.h"

#include <algorithm>
#include <limits>

#include "base/cat.h"
#include "base/utf8.h"

namespace quire::crdt {

namespace {

bool fits(ContainerKind kind, const OpContent& content) {
    if (std::holds_alternative<UnknownOp>(content)) return true;
    switch (kind) {
        case ContainerKind::text:
            return std::holds_alternative<TextInsert>(content) ||
                   std::holds_alternative<SequenceDelete>(content) ||
                   std::holds_alternative<StyleStart>(content) ||
                   std::holds_alternative<StyleEnd>(content);
        case ContainerKind::list:
            return std::holds_alternative<ListInsert>(content) ||
                   std::holds_alternative<SequenceDelete>(content);
        case ContainerKind::map:
            return std::holds_alternative<MapSet>(content) ||
                   std::holds_alternative<MapErase>(content);
        case ContainerKind::movable_list:
            return std::holds_alternative<ListInsert>(content) ||
                   std::holds_alternative<SequenceDelete>(content) ||
                   std::holds_alternative<ListMove>(content) ||
                   std::holds_alternative<ListSet>(content);
        case ContainerKind::tree:
            return std::holds_alternative<TreeCreate>(content) ||
                   std::holds_alternative<TreeMove>(content) ||
                   std::holds_alternative<TreeErase>(content);
        case ContainerKind::counter:
            return std::holds_alternative<CounterAdd>(content);
    }
    return false;  // A kind that we do not know takes unknown ops only.
}

}  // namespace

Result<void> validate(const Change& change) {
    const auto bad = [&](const char* what) {
        return corrupt(cat("the change at ", change.id.counter, "@", change.id.peer, " ", what));
    };
    if (change.id.peer == kNoPeer || change.id.counter < 0) return bad("has an impossible id");
    if (change.ops.empty()) return bad("holds no operation");
    for (const OpId& dep : change.deps) {
        if (dep.counter < 0 || dep.peer == kNoPeer) return bad("depends on an impossible id");
        if (dep.peer == change.id.peer && dep.counter >= change.id.counter)
            return bad("depends on itself");
    }
    std::int64_t next = change.id.counter;
    for (const Op& op : change.ops) {
        if (op.counter != next) return bad("has a gap between its operations");
        if (!fits(op.container.kind, op.content))
            return bad("holds an operation of another kind than its container");
        if (!op.container.is_root() &&
            (op.container.op().counter < 0 || op.container.op().peer == kNoPeer)) {
            return bad("names an impossible container");
        }
        if (const auto* insert = std::get_if<TextInsert>(&op.content)) {
            if (!utf8::is_valid(insert->text)) return bad("inserts text that is not UTF-8");
        }
        if (const auto* erase = std::get_if<SequenceDelete>(&op.content)) {
            if (erase->pos < 0 || erase->len == std::numeric_limits<std::int32_t>::min() ||
                erase->start.counter < 0) {
                return bad("deletes at an impossible position");
            }
        }
        if (const auto* style = std::get_if<StyleStart>(&op.content)) {
            if (style->end == std::numeric_limits<std::uint32_t>::max() ||
                style->end < style->start)
                return bad("styles an impossible stretch");
        }
        if (const auto* create = std::get_if<TreeCreate>(&op.content)) {
            if (create->target != OpId{change.id.peer, op.counter})
                return bad("makes a node by another name than its operation's");
        }
        const Counter atoms = atom_count(op.content);
        if (atoms == 0) return bad("holds an empty operation");
        next += atoms;
        if (next >= std::numeric_limits<Counter>::max()) return bad("counts beyond the last id");
    }
    return {};
}

}  // namespace quire::crdt
