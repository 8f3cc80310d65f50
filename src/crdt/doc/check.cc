// Each structure checks its own promises, and then the document is built again from its exported
// history: the replay must have the version and the value that were kept incrementally.
#include "base/check.h"

#include "crdt/doc/body.h"
#include "crdt/doc/export.h"
#include "crdt/doc/history.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/values.h"

namespace quire::crdt {

void check_invariants(const Doc& doc) {
    CHECK(doc.history().load());
    DocBody& body = whole_of(doc);
    Journal& journal = body.journal();
    journal.log().check_invariants();
    for (ContainerIndex i = 0; i < body.container_count(); ++i) {
        Container& c = body.container(i);
        CHECK(c.index == i && c.log->kind() == c.id.kind);
        visit(c, [&](auto& each) { each.check({body, c}); });
    }
    if (journal.in_transaction()) return;
    // A replay of history gives the state.
    Doc replay(journal.peer_id());
    if (body.start() != nullptr) CHECK(body_of(replay).begin_at(body.start()));
    const Result<Imported> imported = replay.import(export_spans(body, {{0, journal.log().end()}}));
    CHECK(imported.has_value() && imported->pending.empty());
    CHECK(replay.version() == journal.version() && replay.value() == root_value(body, nullptr));
}

}  // namespace quire::crdt
