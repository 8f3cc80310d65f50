// History: a document's past, `doc.history()`: what is known of it and how versions lie to each
// other. A view of one word.
//
// The versions that Doc itself tells are those that readers see. The versions here cover all that
// is known, which is more when the document is detached.
//
// A document that began with a state (opening.h) reads its history when something first needs it.
// Every function with a Result may then fail like load(), and every other one CHECKs that the
// history can be read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/diff.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

// A change without its ops.
struct ChangeHeader {
    OpId id;
    Counter len = 0;
    Frontiers deps;
    Lamport lamport = 0;
    std::int64_t timestamp = 0;
    std::string message;
};

class History {
public:
    explicit History(const Doc& doc) : doc_(&doc) {}

    const VersionVector& version() const;
    Frontiers frontiers() const;
    // The number of committed ops; in a shallow document without those that were trimmed.
    std::size_t op_count() const;
    // All that is parked until what it depends on arrives; spans may overlap. O(what is parked).
    std::vector<IdSpan> waiting() const;

    // Returns true if the history is in memory. Reading, local edits, commits and changes made
    // since the opening do not need it.
    bool is_loaded() const;
    // The part of the document that stands for its history; null once that is loaded. (opening.h)
    const UnreadHistory* unread() const;
    // Reads the history. Ropes and other references that the document gave out end here. Errors:
    // corrupt for a history that is damaged, or does not fit the version or what was edited here;
    // conflict "committing" inside a pre-commit callback.
    Result<void> load() const;
    // Reads it if Doc::changes_since(known) needs it.
    Result<void> load(const VersionVector& known) const;

    // The start of a shallow document's history (shallow.h); null if the history is whole.
    std::shared_ptr<const ShallowStart> start() const;

    // Every version that is passed in fails with not_found "unknown_version" where it names an op
    // that is not known here, and in a shallow document with unsupported "shallow_snapshot" where
    // it lies before the start. One of several heads may imply another.
    //
    // All ops that the heads stand for.
    Result<VersionVector> version_of(const Frontiers& version) const;
    // The heads of the known part of `version`; in a shallow document the start at the earliest.
    Frontiers heads_of(const VersionVector& version) const;
    // The version without heads that others imply.
    Result<Frontiers> minimal(const Frontiers& version) const;
    // The ops to take back, and the ops to do, to get from one version to another; by peer.
    struct Between {
        std::vector<IdSpan> back;
        std::vector<IdSpan> forward;
    };
    Result<Between> spans_between(const Frontiers& from, const Frontiers& to) const;
    // The changes that hold the version, latest first and no change before one that depends on it,
    // until `take` returns false. In a shallow document its first ops come last.
    Result<void> travel_ancestors(const Frontiers& version,
                                  Function<bool(const ChangeHeader&)> take) const;
    // The diff that turns one version into the other. A container that only `to` shows comes with
    // all that it holds; one that `to` does not show is left out. As deep as values. O(containers
    // touched).
    Result<Diff> diff(const Frontiers& from, const Frontiers& to) const;

private:
    const Doc* doc_;
};

inline History Doc::history() const {
    return History(*this);
}

// A document of its own with a version of this one. CHECKs that no transaction is pending. Errors:
// as in load(); not_found "unknown_version".
Result<Doc> fork_at(const Doc& doc, const Frontiers& version, PeerId peer);

}  // namespace quire::crdt
