// OpLog: everything that happened, in the order in which it became known here.
//
// Append-only except for rewind(), which removes the end: an import that fails halfway leaves
// nothing behind. Knows no state; applying ops to a text is the task of others.
//
//     atoms    0 1 2 3   4 5 6    7 8 9      numbered as they came in (Lv)
//     ids      ada 0-3   bo 0-2   ada 4-6    AtomTable
//     parents  none      1        3, 6       Graph; within a run each follows the last
//     owner    text      text     map        whose log has the content
//     change   0         1        2          deps as received, timestamp, message
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "crdt/history/container_logs.h"
#include "crdt/history/graph.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

// The properties of a change beside its ops. It ends where the next one begins.
struct ChangeInfo {
    Lv lv;
    std::uint32_t deps;  // An index for deps_of(): the deps as received.
    std::uint32_t dep_count;
    std::uint32_t message;  // An index for message_of().
    std::int64_t timestamp;
};

// History in three tables, kept in step. A copy is a history of its own: O(runs and values).
class OpLog {
public:
    AtomTable& atoms() { return atoms_; }
    const AtomTable& atoms() const { return atoms_; }
    const Graph& graph() const { return graph_; }
    const Heads& heads() const { return heads_; }
    Lv end() const { return atoms_.end(); }

    // The ops of each container. They are written there, and counted here.
    ContainerLogs& logs() { return logs_; }
    const ContainerLogs& logs() const { return logs_; }

    // Begins a change of `peer` at end() with these deps as received; append()s add its atoms. Its
    // parents are its deps and the peer's predecessor. finish() makes it the head.
    void begin(PeerIndex peer, const Heads& deps, std::int64_t timestamp, std::string_view message);
    // Begins another change of the same peer that follows only the one before; both are finished as
    // one.
    void go_on(std::int64_t timestamp, std::string_view message);
    // Like begin(), for a local change, which depends on the heads.
    void begin_local(PeerIndex peer);
    // The parents of the change that was begun.
    const Heads& parents() const { return parents_; }
    PeerIndex current_peer() const { return current_; }
    // Returns true if the next atoms may lengthen a run: they follow their peer's last ones and nothing
    // else.
    bool joins() const { return joins_; }
    // Returns true if the next atom follows only the last one of all.
    bool goes_on() const {
        return !opening_ || (end() > 0 && parents_.size() == 1 && parents_[0] + 1 == end());
    }
    // Adds the next `count` atoms of the change. Their content goes into the container's log
    // beside.
    void append(ContainerIndex container, Lv count) {
        atoms_.append(current_, count);
        if (opening_) {
            graph_.append(parents_, count);
            opening_ = false;
        } else {
            graph_.extend(count);
        }
        joins_ = true;
        if (owners_.empty() || owners_.back().container != container)
            owners_.push_back({end() - count, container});
    }
    // Adds one more atom to the run that was appended to last.
    void extend() {
        atoms_.extend(current_);
        graph_.extend(1);
    }
    // Ends the change that was begun and makes it the head.
    void finish();
    // The change that finish() ended last is still being extended.
    void reopen() { heads_ = parents_; }
    // finish() for a local change, with properties that were unknown when it began. It is merged
    // with the change before if it continues it, has the same properties, and came at most
    // `merge_interval` later.
    void finish_local(std::int64_t timestamp, std::string_view message,
                      std::int64_t merge_interval);

    const std::vector<ChangeInfo>& changes() const { return changes_; }
    // The index of the change that contains an atom. O(log changes).
    std::size_t change_of(Lv lv) const;
    Lv change_end(std::size_t index) const {
        return index + 1 < changes_.size() ? changes_[index + 1].lv : end();
    }
    std::span<const Lv> deps_of(const ChangeInfo& change) const {
        return std::span(deps_).subspan(change.deps, change.dep_count);
    }
    const std::string& message_of(const ChangeInfo& change) const {
        return messages_[change.message];
    }
    // Makes room for as many changes as an import may bring, if they are many beside those known.
    void expect(std::size_t changes);
    // The latest among the changes that hold these atoms; 0 at least.
    std::int64_t latest_timestamp(std::span<const Lv> of) const;

    // The peer's atom that has this lamport.
    std::optional<Lv> atom_of(ElementId id) const;
    ElementId element_id(Lv made) const { return {atoms_.peer_of(made), graph_.lamport(made)}; }
    // Returns true if `a` is later by (lamport, peer), the order that decides between concurrent writes.
    bool outranks(Lv a, Lv b) const;

    // The container of an atom. O(log stretches).
    ContainerIndex container_of(Lv lv) const;
    // Calls take(container, LvSpan) for each stretch of [span) that belongs to one container, in
    // order.
    template <class Take>
    void for_each_owner(LvSpan span, Take take) const {
        for (std::size_t i = owner_of(span.begin); span.begin < span.end; ++i) {
            const Lv next = i + 1 < owners_.size() ? owners_[i + 1].lv : end();
            const Lv stop = next < span.end ? next : span.end;
            take(owners_[i].container, LvSpan{span.begin, stop});
            span.begin = stop;
        }
    }

    // A base (see AtomTable): a state's atoms, before everything else, as one change.
    struct Placed {
        PeerId peer = 0;
        Counter first = AtomTable::kUnknown;
        Lamport lamport = 0;
        Lv count = 1;
    };
    // Places atoms of a base.
    void place(ContainerIndex container, const Placed& atoms);
    // Makes room for so many calls of place(), and for some heads.
    void expect_placed(std::size_t count) {
        constexpr std::size_t kHeads = 64;
        graph_.expect(count + kHeads);
        atoms_.expect(count + kHeads);
    }
    // Ends the base with the heads of the state's version and their latest `timestamp`. False as in
    // AtomTable::end_base().
    bool end_base(const VersionVector& version, std::span<const Placed> heads,
                  std::int64_t timestamp);
    Lv base() const { return atoms_.base(); }
    const Heads& base_heads() const { return base_heads_; }
    // The largest lamport that was placed so far.
    Lamport base_lamport() const { return base_lamport_; }
    // The number that stands for a known atom in deps and versions; none for an atom of the base
    // that is not one of its heads. O(log runs).
    std::optional<Lv> version_atom(PeerIndex peer, Counter counter) const;

    // A state to return to, after a failed import.
    struct Mark {
        Lv end;
        std::size_t changes, deps, owners;
    };
    // From here on the heads that changes of others replace are remembered: O(1), where a copy of the
    // heads would cost as much as there are peers that were never merged. A local change forgets the mark.
    Mark mark();
    // The heads at the last mark. O(heads).
    Heads heads_at(const Mark& mark) const;
    // The logs of containers are rewound by their writer. Requires the last mark.
    void rewind(const Mark& mark);

    void check_invariants() const;

private:
    // The atoms from `lv` to the next owner belong to one container.
    struct Owner {
        Lv lv;
        ContainerIndex container;
    };
    std::size_t owner_of(Lv lv) const;
    // Equal messages are kept once; the empty one is number 0.
    std::uint32_t intern_message(std::string_view message) {
        return message.empty() ? 0 : number_message(message);
    }
    std::uint32_t number_message(std::string_view message);
    void drop_head(Lv head) {
        if (head < marked_) dropped_heads_.push_back(head);
    }
    // Sets `parents_` for a change of the peer with these deps: without those that others imply.
    void find_parents(PeerIndex peer, const Heads& deps);
    std::optional<Lv> base_element(ElementId id) const;

    AtomTable atoms_;
    Graph graph_;
    Heads heads_;
    Lv marked_ = 0;        // The heads below this that finish() replaces are remembered, in
    Heads dropped_heads_;  // any order.
    Heads base_heads_;
    Lamport base_lamport_ = 0;
    // The elements of movable lists that the base holds; made when one is first asked for.
    mutable std::optional<std::map<ElementId, Lv>> base_elements_;
    ContainerLogs logs_;
    std::vector<Owner> owners_;
    std::vector<ChangeInfo> changes_;
    std::vector<Lv> deps_;
    std::vector<std::string> messages_{std::string()};
    std::unordered_map<std::string, std::uint32_t> message_index_{{std::string(), 0}};

    PeerIndex current_ = 0;
    Heads parents_;
    bool opening_ = false;  // Nothing was appended to the change yet.
    bool joins_ = false;
};

}  // namespace quire::crdt
