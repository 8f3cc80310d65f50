// The first gate for changes from outside: each change is looked at by itself, before anything is
// applied. It keeps out what no writer can have written (ids, positions, kinds), so that later
// steps need not look for it. It knows no history; positions beyond a container's end and unknown
// elements are found when the ops are applied (import_run.h). O(rows + deps).
#include "crdt/doc/validate.h"

#include <algorithm>
#include <limits>

#include "base/concat.h"

namespace quire::crdt {

namespace {

constexpr std::uint32_t kMaxI32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kEndOfIds = std::numeric_limits<Counter>::max();

Failure bad(OpId change, const char* what) {
    return corrupt(cat("the change at ", change.counter, "@", change.peer, " ", what));
}

bool fits(ContainerKind kind, const OpContent& content) {
    if (std::holds_alternative<UnknownOp>(content)) return true;
    switch (kind) {
        case ContainerKind::text:
            return std::holds_alternative<StyleStart>(content) ||
                   std::holds_alternative<StyleEnd>(content);
        case ContainerKind::list:
            return std::holds_alternative<ListInsert>(content);
        case ContainerKind::map:
            return std::holds_alternative<MapSet>(content) ||
                   std::holds_alternative<MapErase>(content);
        case ContainerKind::movable_list:
            return std::holds_alternative<ListInsert>(content) ||
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

bool fits(ContainerKind kind, const ChangeBatch::Row& row) {
    if (row.form == ChangeBatch::Form::content) return fits(kind, *row.content);
    return kind == ContainerKind::text ||
           (row.is_erase() && (kind == ContainerKind::list || kind == ContainerKind::movable_list));
}

// Returns true if an op of a tree names a node that no peer can make.
bool names_impossible_node(const OpContent& content) {
    const auto is_impossible = [](OpId node) { return node.peer == kNoPeer || node.counter < 0; };
    if (const auto* create = std::get_if<TreeCreate>(&content))
        return create->parent && is_impossible(*create->parent);
    if (const auto* move = std::get_if<TreeMove>(&content))
        return is_impossible(move->target) || (move->parent && is_impossible(*move->parent));
    const auto* erase = std::get_if<TreeErase>(&content);
    return erase != nullptr && is_impossible(erase->target);
}

constexpr const char* kImpossibleErase = "deletes at an impossible position";

bool is_possible_erase(const ChangeBatch::Row& row) {
    return row.pos <= kMaxI32 && row.size <= kMaxI32;
}

// Returns null for a row in which nothing is wrong. `id` is that of its first atom.
const char* fault_of(ContainerKind kind, const ChangeBatch::Row& row, OpId id) {
    if (!fits(kind, row)) return "holds an operation of another kind than its container";
    if (row.is_erase() && !is_possible_erase(row)) return kImpossibleErase;
    if (row.form != ChangeBatch::Form::content) return nullptr;
    const auto* style = std::get_if<StyleStart>(row.content);
    if (style != nullptr &&
        (style->end == std::numeric_limits<std::uint32_t>::max() || style->end < style->start)) {
        return "styles an impossible stretch";
    }
    const auto* create = std::get_if<TreeCreate>(row.content);
    if (create != nullptr && create->target != id)
        return "makes a node by another name than its operation's";
    if (names_impossible_node(*row.content)) return "names an impossible node";
    return nullptr;
}

// The last container that was looked at, if it is a text.
struct SeenText {
    std::uint32_t number = std::numeric_limits<std::uint32_t>::max();
};

// Returns null for a change in which nothing is wrong.
const char* fault_of(const ChangeBatch& batch, const ChangeBatch::Head& head, SeenText& seen) {
    const PeerId peer = batch.peers[head.peer];
    if (peer == kNoPeer || head.counter < 0) return "has an impossible id";
    if (head.row_count == 0) return "holds no operation";
    for (const ChangeBatch::Dep& dep : batch.deps_of(head)) {
        if (dep.counter < 0 || batch.peers[dep.peer] == kNoPeer)
            return "depends on an impossible id";
        // Longer circles wait for each other and are parked.
        if (dep.peer == head.peer && dep.counter >= head.counter) return "depends on itself";
    }
    std::int64_t next = head.counter;
    for (const ChangeBatch::Row& row : batch.rows_of(head)) {
        // Most rows type or delete in the text of the row before, and little can be wrong there.
        if (row.container != seen.number || row.form == ChangeBatch::Form::content) {
            const ContainerId& container = batch.containers[row.container];
            if (!container.is_root() &&
                (container.op().counter < 0 || container.op().peer == kNoPeer)) {
                return "names an impossible container";
            }
            const OpId id{peer, static_cast<Counter>(next)};
            if (const char* fault = fault_of(container.kind, row, id)) return fault;
            seen = container.kind == ContainerKind::text ? SeenText{row.container} : SeenText{};
        } else if (row.is_erase() && !is_possible_erase(row)) {
            return kImpossibleErase;
        }
        if (row.atoms <= 0) return "holds an empty operation";
        next += row.atoms;
        if (next >= kEndOfIds) return "counts beyond the last id";
    }
    return nullptr;
}

}  // namespace

Result<void> validate(const ChangeBatch& batch) {
    if (batch.fault) return bad(batch.fault->change, batch.fault->what);
    SeenText seen;
    for (const ChangeBatch::Head& head : batch.heads) {
        if (const char* fault = fault_of(batch, head, seen)) return bad(batch.id_of(head), fault);
    }
    return {};
}

}  // namespace quire::crdt
