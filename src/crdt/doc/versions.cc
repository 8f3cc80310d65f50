// Versions of a journal: as ids, as the numbers of its log, and as counters by peer.
//
// Ids are what versions are named by outside; inside, atoms are numbered in the order in which they
// became known, so that a version is a few spans of numbers and its heads (past.h). The version
// after all committed ops is kept and extended by what came since it was last asked for.
#include <algorithm>

#include "base/concat.h"
#include "crdt/doc/journal.h"
#include "crdt/doc/limits.h"

namespace quire::crdt {

namespace {

// Adds atoms after the base to a version: O(runs of ids).
void extend(VersionVector& version, const AtomTable& atoms, LvSpan span) {
    for (Lv lv = span.begin; lv < span.end;) {
        const Lv stop = std::min(span.end, atoms.run_end(lv));
        const OpId last = atoms.id_of(stop - 1);
        version.extend(last.peer, last.counter + 1);
        lv = stop;
    }
}

}  // namespace

const VersionVector& Journal::version() {
    const Lv end = committed_end();
    if (version_end_ < end) extend(version_, log_.atoms(), {version_end_, end});
    version_end_ = std::max(version_end_, end);
    return version_;
}

// The ops of a pending transaction are no version yet, so naming one is an error like naming an
// unknown op. Of a base only its heads can be named: a version that holds a part of the base has no
// state here.
Result<Heads> Journal::heads_of(const Frontiers& version) const {
    const AtomTable& atoms = log_.atoms();
    Heads heads;
    for (const OpId& id : version) {
        const std::optional<PeerIndex> peer = atoms.find(id.peer);
        const bool is_known = peer && id.counter >= 0 && id.counter < atoms.end_of(*peer);
        const std::optional<Lv> lv = is_known ? log_.version_atom(*peer, id.counter) : std::nullopt;
        if (is_known && !lv) return before_start(cat("the version ", id.counter, "@", id.peer));
        if (!lv || *lv >= committed_end()) {
            return fail(
                Errc::not_found, "unknown_version",
                cat("the version names ", id.counter, "@", id.peer, ", which is not known here"));
        }
        heads.push_back(*lv);
    }
    heads = log_.graph().minimal(std::move(heads));
    const Heads& base = log_.base_heads();
    const bool holds_base = !heads.empty() && (heads.back() >= log_.base() || heads == base);
    if (!base.empty() && !holds_base) return before_start("the version");
    return heads;
}

// The latest version is everything; any other has its spans worked out by the graph.
Past Journal::past_of(Heads heads) const {
    if (heads == log_.heads()) return {committed_end(), std::move(heads)};
    return {log_.graph(), std::move(heads)};
}

VersionVector Journal::version_of(const Past& past) const {
    VersionVector version;
    if (!past.spans().empty()) version = base_version_;
    for (const LvSpan& span : past.spans())
        extend(version, log_.atoms(), {std::max(span.begin, log_.base()), span.end});
    return version;
}

Frontiers Journal::frontiers_of(std::span<const Lv> heads) const {
    Frontiers frontiers;
    for (const Lv head : heads) frontiers.push_back(log_.atoms().id_of(head));
    std::sort(frontiers.begin(), frontiers.end());
    return frontiers;
}

bool Journal::end_base(const VersionVector& end, std::span<const OpLog::Placed> heads,
                       std::int64_t timestamp) {
    if (!log_.end_base(end, heads, timestamp)) return false;
    version_ = base_version_ = end;
    version_end_ = began_ = log_.end();
    for (const auto& [peer, last] : end.ends()) unplaced_ += last;
    unplaced_ -= std::int64_t{log_.end()};
    return true;
}

}  // namespace quire::crdt
