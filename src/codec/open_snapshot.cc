// Opens a blank document at a snapshot's state: each container's state is decoded and handed to a
// StateWriter. The blob is kept, and decoded as a history when something first needs that. A
// snapshot without a usable state (trimmed, or empty) is left to an import.
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
#include "crdt/doc/tree_values.h"

namespace quire::codec {
namespace {

using crdt::ElementId;
using crdt::OpId;
using crdt::StampedAtom;
using crdt::StateWriter;

class SnapshotHistory final : public crdt::HistorySource {
public:
    explicit SnapshotHistory(Bytes blob) : blob_(std::move(blob)) {}
    Result<std::vector<crdt::Change>> read() override {
        const Snapshot snapshot = TRY(Snapshot::open(blob_));
        return snapshot.changes();
    }

private:
    Bytes blob_;
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

Result<std::vector<ContainerState>> read_states(const Snapshot& snapshot) {
    Budget budget = snapshot.budget();
    std::vector<ContainerState> states;
    const std::vector<crdt::ContainerId> ids = TRY(snapshot.containers(budget));
    states.reserve(ids.size());
    for (const crdt::ContainerId& id : ids) {
        std::optional<ContainerState> state = TRY(snapshot.state(id, budget));
        states.push_back(std::move(*state));
    }
    // Containers come after the container that holds them.
    std::stable_sort(
        states.begin(), states.end(),
        [](const ContainerState& a, const ContainerState& b) { return a.depth < b.depth; });
    return states;
}

Result<crdt::OpeningVersion> read_version(const Snapshot& snapshot) {
    crdt::OpeningVersion version{snapshot.end(), {}, 0};
    for (const OpId head : snapshot.heads()) {
        const Snapshot::Moment moment = TRY(snapshot.moment_of(head));
        version.heads.push_back({head, moment.lamport});
        version.timestamp = std::max(version.timestamp, moment.timestamp);
    }
    return version;
}

}  // namespace

Result<bool> open_snapshot(crdt::Doc& doc, Bytes blob) {
    if (!crdt::is_blank(doc) || TRY(open_envelope(blob)).mode != Mode::snapshot) return false;
    const Snapshot snapshot = TRY(Snapshot::open(blob));
    if (snapshot.start() || !snapshot.state_version() || snapshot.heads().empty()) return false;
    // Damage that is found only when the history is read would have been taken for success by then.
    TRY(snapshot.verify_history());
    const crdt::OpeningVersion version = TRY(read_version(snapshot));
    std::vector<ContainerState> states = TRY(read_states(snapshot));
    const auto write = [&](StateWriter& writer) -> Result<void> {
        for (ContainerState& container : states) {
            TRY(writer.begin(container.id));
            TRY(std::visit(WriteState{writer}, container.state));
        }
        return {};
    };
    const Result<void> opened =
        crdt::open_at(doc, version, std::make_unique<SnapshotHistory>(std::move(blob)), write);
    if (opened) return true;
    if (opened.error().code() == Errc::unsupported) return false;
    return Failure(opened.error());
}

}  // namespace quire::codec
