// Versions, and the one that readers see.
#include "crdt/doc/view.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

Result<Heads> DocBody::heads_of(const Frontiers& version) const {
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

Past DocBody::past_of(Heads heads) const {
    if (heads == log_.heads()) return {committed_end(), std::move(heads)};
    return {log_.graph(), std::move(heads)};
}

VersionVector DocBody::version_of(const Past& past) const {
    VersionVector version;
    for (const LvSpan& span : past.spans()) {
        for (Lv lv = span.begin; lv < span.end;) {
            const Lv stop = std::min(span.end, log_.atoms().run_end(lv));
            const OpId last = log_.atoms().id_of(stop - 1);
            version.extend(last.peer, last.counter + 1);
            lv = stop;
        }
    }
    return version;
}

const VersionVector& DocBody::shown_version() {
    if (view_ == nullptr) return version();
    if (!view_->version) view_->version = version_of(view_->past);
    return *view_->version;
}

void DocBody::show(std::optional<Past> version) {
    CHECK(!open_);
    view_ = version ? std::make_unique<View>(*std::move(version)) : nullptr;
    at_ = view_ == nullptr ? nullptr : &view_->past;
}

}  // namespace quire::crdt
