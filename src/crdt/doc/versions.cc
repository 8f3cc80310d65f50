// Versions of a journal: as ids, as the numbers of its log, and as counters by peer.
#include <algorithm>

#include "base/concat.h"
#include "crdt/doc/journal.h"

namespace quire::crdt {

namespace {

// Adds atoms to a version: O(runs of ids).
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

Result<Heads> Journal::heads_of(const Frontiers& version) const {
    Heads heads;
    for (const OpId& id : version) {
        const std::optional<Lv> lv = log_.atoms().lv_of(id);
        if (!lv || *lv >= committed_end()) {
            return fail(
                Errc::not_found, "unknown_version",
                cat("the version names ", id.counter, "@", id.peer, ", which is not known here"));
        }
        heads.push_back(*lv);
    }
    return log_.graph().minimal(std::move(heads));
}

Past Journal::past_of(Heads heads) const {
    if (heads == log_.heads()) return {committed_end(), std::move(heads)};
    return {log_.graph(), std::move(heads)};
}

VersionVector Journal::version_of(const Past& past) const {
    VersionVector version;
    for (const LvSpan& span : past.spans()) extend(version, log_.atoms(), span);
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
    version_ = end;
    version_end_ = began_ = log_.end();
    for (const auto& [peer, last] : end.ends()) unplaced_ += last;
    unplaced_ -= std::int64_t{log_.end()};
    return true;
}

}  // namespace quire::crdt
