// Scribblers: several peers who write at random into every kind of container and meet at times, and
// what each commit looked like. For tests of time and events.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "crdt/doc/doc.h"

namespace quire::model {

class Scribblers {
public:
    Scribblers(std::uint64_t seed, std::size_t peers);

    // Some edits by one of them and perhaps a commit, or an exchange between two.
    void step();
    // Brings what somebody has to this one.
    void exchange(std::size_t to);
    // Ends all transactions and brings everything to everybody.
    void meet();

    crdt::Doc& doc(std::size_t index) { return *docs_[index]; }
    std::size_t count() const { return docs_.size(); }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

    // The state of a document at a commit.
    struct Moment {
        crdt::Frontiers frontiers;
        crdt::VersionVector version;
        Value value;
    };
    const std::vector<Moment>& moments() const { return moments_; }
    // One edit of any kind, in the pending transaction.
    void edit(crdt::Doc& doc);
    void commit(crdt::Doc& doc);
    // Somebody without documents who will make the same edits.
    Scribblers twin() const;

private:
    crdt::Handle pick(crdt::Doc& doc, crdt::ContainerKind kind);
    crdt::ContainerKind any_kind();
    void edit_text(crdt::Doc& doc, crdt::Handle text);
    void edit_list(crdt::Doc& doc, crdt::Handle list);
    void edit_map(crdt::Doc& doc, crdt::Handle map);
    void edit_movable(crdt::Doc& doc, crdt::Handle list);

    std::mt19937_64 random_;
    std::vector<std::unique_ptr<crdt::Doc>> docs_;
    std::vector<crdt::ContainerId> children_;
    std::vector<Moment> moments_;
};

// SEED of the environment, or one by chance; and QUIRE_STEPS, or `otherwise`. Says both.
struct Runs {
    std::uint64_t seed;
    std::uint64_t count;
    explicit Runs(std::uint64_t otherwise);
};

}  // namespace quire::model
