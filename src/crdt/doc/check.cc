#include "base/check.h"

#include "crdt/doc/body.h"

namespace quire::crdt {

void DocBody::check_invariants() {
    log_.check_invariants();
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        Container& c = containers_[i];
        CHECK(c.index == i && c.log->kind() == c.id.kind);
        visit(c, [&](auto& body) { body.check({*this, c}); });
    }
    if (open_) return;
    // A replay of history gives the state.
    Doc replay(peer_id_);
    const Result<Imported> imported = replay.import(export_spans({{0, log_.end()}}));
    CHECK(imported.has_value() && imported->pending.empty());
    CHECK(replay.version() == version() && replay.value() == root_value(nullptr));
}

}  // namespace quire::crdt
