// Opens a blank document at a snapshot's state: each container's state is decoded and handed to a
// StateWriter. The blob is kept, and decoded as a history when something first needs that. A
// snapshot without a usable state (trimmed, or empty) is left to an import.
//
//     whole history, state here      open at the state, history later
//     trimmed, state here            open at the state, with the start's states beside it
//     trimmed, state left out        open at the start and import what follows
//     anything that only a history can tell       not opened here, or the history is read at once
//
// Containers are handed over by depth, so that each finds the one that holds it.
#include "codec/open_snapshot.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/utf8.h"
#include "codec/envelope.h"
#include "codec/snapshot.h"
#include "crdt/doc/opening.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/tree_values.h"

namespace quire::codec {
namespace {

using crdt::ElementId;
using crdt::OpId;
using crdt::StampedAtom;
using crdt::StateWriter;

using Blob = std::shared_ptr<const Bytes>;

// The history that was left in the blob. It is decoded once at most, from the blob that it keeps
// alive.
class SnapshotHistory final : public crdt::HistorySource {
public:
    // `keeps_form`: a save of the document has the form of the blob.
    SnapshotHistory(Blob blob, std::shared_ptr<const crdt::ShallowStart> start, bool keeps_form)
        : blob_(std::move(blob)), start_(std::move(start)), keeps_form_(keeps_form) {}
    Result<std::vector<crdt::Change>> read() override {
        const Snapshot snapshot = TRY(Snapshot::open(*blob_));
        return snapshot.changes();
    }
    std::shared_ptr<const crdt::ShallowStart> start() const override { return start_; }
    std::span<const std::uint8_t> snapshot() const override {
        return keeps_form_ ? std::span(*blob_) : std::span<const std::uint8_t>();
    }

private:
    Blob blob_;
    std::shared_ptr<const crdt::ShallowStart> start_;
    bool keeps_form_;
};

StampedAtom stamped(const StampedId& atom) {
    return {atom.id, atom.lamport};
}
ElementId stamped(const Stamp& stamp) {
    return {stamp.peer, stamp.lamport};
}

// One for each kind of container.
struct WriteState {
    StateWriter& writer;

    Result<void> operator()(MapState& state) const {
        writer.expect_entries(state.registers.size());
        for (MapRegister& entry : state.registers)
            TRY(writer.entry(std::move(entry.key), std::move(entry.value), stamped(entry.stamp)));
        return {};
    }
    Result<void> operator()(ListState& state) const {
        std::span<StateSlot> rest = state.values;
        for (const IdRun& run : state.ids) {
            const auto size = static_cast<std::size_t>(run.size);
            TRY(writer.values(stamped(run.first), rest.first(size)));
            rest = rest.subspan(size);
        }
        return {};
    }
    Result<void> operator()(TextState& state) const {
        std::string_view rest = state.text;
        auto style = state.styles.begin();
        writer.expect_stretches(state.spans.size());
        for (const TextSpan& span : state.spans) {
            const StampedAtom first = stamped(span.first);
            if (span.length == kStyleStart) {
                TRY(writer.style_start(first, std::move(style->key), std::move(style->value),
                                       style->info));
                ++style;
            } else if (span.length == kStyleEnd) {
                TRY(writer.style_end(first));
            } else {
                const std::string_view here =
                    utf8::prefix(rest, static_cast<std::size_t>(span.length));
                TRY(writer.text(first, here, span.length));
                rest.remove_prefix(here.size());
            }
        }
        return {};
    }
    Result<void> operator()(TreeState& state) const {
        for (TreeNode& node : state.nodes) {
            // The engine tells erased nodes by a flag, Loro by a parent that no peer can make.
            const bool erased = node.parent == kDeletedTreeRoot;
            if (erased) node.parent.reset();
            TRY(writer.node(node.id, node.parent, erased, stamped(node.last_move),
                            std::move(node.position)));
        }
        return {};
    }
    Result<void> operator()(MovableListState& state) const {
        auto element = state.elements.begin();
        for (const MovableSlot& slot : state.slots) {
            if (!slot.shows) {
                TRY(writer.empty_slot(stamped(slot.atom)));
                continue;
            }
            TRY(writer.element(stamped(slot.atom), stamped(element->id), stamped(element->last_set),
                               std::move(element->value)));
            ++element;
        }
        return {};
    }
    Result<void> operator()(CounterState& state) const { return writer.total(state.value); }
    Result<void> operator()(UnknownState&) const { return needs_history(); }

    static Failure needs_history() {
        return fail(Errc::unsupported, "needs_history",
                    "what this container holds cannot be told from its state");
    }
};

enum class Moment { start, end };

// The states at the start of a trimmed history, or at the end of any.
// All states are alive at once, so they share one budget.
Result<std::vector<ContainerState>> read_states(const Snapshot& snapshot, Moment moment) {
    Budget budget = snapshot.budget();
    std::vector<ContainerState> states;
    const bool at_start = moment == Moment::start;
    const std::vector<crdt::ContainerId> ids =
        TRY(at_start ? snapshot.start_containers(budget) : snapshot.containers(budget));
    states.reserve(ids.size());
    for (const crdt::ContainerId& id : ids) {
        std::optional<ContainerState> state =
            TRY(at_start ? snapshot.start_state(id, budget) : snapshot.state(id, budget));
        states.push_back(std::move(*state));
    }
    // Containers come after the container that holds them.
    std::stable_sort(
        states.begin(), states.end(),
        [](const ContainerState& a, const ContainerState& b) { return a.depth < b.depth; });
    return states;
}

// Returns true if a tree moved or erased a node whose map is another container's, as only hostile histories do: the
// map would be shown in both. If nobody has written to the map, it has a state all the same (document_snapshot.h);
// in snapshots of other programs it may have none, and is not found here.
bool shares_nodes(std::span<const ContainerState> states) {
    std::vector<std::pair<OpId, const crdt::ContainerId*>> moved;
    for (const ContainerState& container : states) {
        const auto* tree = std::get_if<TreeState>(&container.state);
        if (tree == nullptr) continue;
        for (const TreeNode& node : tree->nodes) {
            if (node.id != node.last_move.id) moved.emplace_back(node.id, &container.id);
        }
    }
    if (moved.empty()) return false;
    std::ranges::sort(moved);
    return std::ranges::any_of(states, [&](const ContainerState& container) {
        if (container.id.is_root() || container.id.kind != crdt::ContainerKind::map) return false;
        const OpId node = container.id.op();
        auto at = std::ranges::lower_bound(moved, node, {},
                                           &std::pair<OpId, const crdt::ContainerId*>::first);
        while (at != moved.end() && at->first == node && container.parent == *at->second) ++at;
        return container.parent && at != moved.end() && at->first == node;
    });
}

Result<void> write_states(std::vector<ContainerState> states, StateWriter& writer) {
    if (shares_nodes(states)) return WriteState::needs_history();
    for (ContainerState& container : states) {
        TRY(writer.begin(container.id));
        TRY(std::visit(WriteState{writer}, container.state));
    }
    return {};
}

// Later edits need the lamports and the latest timestamp of the heads, which stand in the headers
// of their blocks.
Result<crdt::OpeningVersion> read_version(const Snapshot& snapshot, crdt::VersionVector end,
                                          const crdt::Frontiers& heads) {
    crdt::OpeningVersion version{std::move(end), {}, 0};
    for (const OpId head : heads) {
        const Snapshot::Moment moment = TRY(snapshot.moment_of(head));
        version.heads.push_back({head, moment.lamport});
        version.timestamp = std::max(version.timestamp, moment.timestamp);
    }
    return version;
}

// The start of a trimmed history. It keeps the blob.
class SnapshotStart final : public crdt::ShallowStart {
public:
    static Result<std::shared_ptr<const ShallowStart>> read(const Snapshot& snapshot, Blob blob);

    SnapshotStart(crdt::OpeningVersion version, std::vector<crdt::Change> first_ops, Blob blob)
        : ShallowStart(std::move(version), std::move(first_ops)), blob_(std::move(blob)) {}

    Result<void> write(StateWriter& writer) const override {
        const Snapshot snapshot = TRY(Snapshot::open(*blob_));
        std::vector<ContainerState> states = TRY(read_states(snapshot, Moment::start));
        for (const ContainerState& container : states) {
            if (!std::holds_alternative<UnknownState>(container.state)) continue;
            return fail(Errc::unsupported, "unknown_container",
                        "a shallow snapshot has a container of an unknown kind, which only its "
                        "history could tell of; update this program, or import a full snapshot");
        }
        return write_states(std::move(states), writer);
    }

private:
    Blob blob_;
};

Result<std::shared_ptr<const crdt::ShallowStart>> SnapshotStart::read(const Snapshot& snapshot,
                                                                      Blob blob) {
    const crdt::Frontiers& heads = snapshot.start()->heads;
    crdt::VersionVector end = snapshot.start()->end;
    std::vector<crdt::Change> first_ops;
    Budget budget = snapshot.budget();
    for (const OpId head : heads) {
        const auto changes =
            TRY(snapshot.changes_in({head.peer, head.counter, head.counter + 1}, budget));
        if (changes.size() != 1) return corrupt("a trimmed history does not hold its first op");
        const crdt::Counter at = head.counter - changes.front().id.counter;
        first_ops.push_back(crdt::slice(changes.front(), at, at + 1));
        // The history begins with the heads themselves, and the state at the start holds them too:
        // they are kept as ops and counted to the start.
        end.extend(head.peer, head.counter + 1);
    }
    return std::make_shared<const SnapshotStart>(TRY(read_version(snapshot, std::move(end), heads)),
                                                 std::move(first_ops), std::move(blob));
}

Result<bool> open_at_state(crdt::Doc& doc, const Snapshot& snapshot, Blob blob,
                           std::shared_ptr<const crdt::ShallowStart> start) {
    const crdt::OpeningVersion version =
        TRY(read_version(snapshot, snapshot.end(), snapshot.heads()));
    std::vector<ContainerState> states = TRY(read_states(snapshot, Moment::end));
    const auto write = [&](StateWriter& writer) { return write_states(std::move(states), writer); };
    // A whole history may come in the form of a shallow one, with a start that is none.
    const bool keeps_form = !snapshot.start() || start != nullptr;
    const Result<void> opened = crdt::open_at(
        doc, version,
        std::make_unique<SnapshotHistory>(std::move(blob), std::move(start), keeps_form), write);
    if (opened) return true;
    // The state holds something that only the history explains; the caller imports that instead.
    if (opened.error().code() == Errc::unsupported) return false;
    return Failure(opened.error());
}

}  // namespace

Result<bool> open_snapshot(crdt::Doc& doc, Bytes bytes) {
    if (!crdt::is_empty(doc) || TRY(open_envelope(bytes)).mode != Mode::snapshot) return false;
    const Blob blob = std::make_shared<const Bytes>(std::move(bytes));
    const Snapshot snapshot = TRY(Snapshot::open(*blob));
    const bool is_shallow = snapshot.start() && !snapshot.start()->heads.empty();
    // An empty document that has subscribers or parked changes is not blank, and a whole history
    // can be imported into it as well.
    if (snapshot.heads().empty() || (!is_shallow && !crdt::is_blank(doc))) return false;
    // Damage that is found only when the history is read would have been taken for success by then.
    TRY(snapshot.verify_history());
    std::shared_ptr<const crdt::ShallowStart> start;
    if (is_shallow) start = TRY(SnapshotStart::read(snapshot, blob));
    if (crdt::is_blank(doc) && snapshot.state_version() == snapshot.heads() &&
        TRY(open_at_state(doc, snapshot, blob, start))) {
        return true;
    }
    if (!is_shallow) return false;
    const std::vector<crdt::Change> history = TRY(snapshot.changes());
    TRY(crdt::open_shallow(doc, std::move(start), history, {snapshot.end(), snapshot.heads()}));
    return true;
}

}  // namespace quire::codec
