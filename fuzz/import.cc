#include "fuzz/import.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "fuzz/memory_bound.h"
#include "json/json.h"

namespace quire::fuzz {
namespace {

using namespace crdt;  // NOLINT(google-build-using-namespace): the nouns of this file.

// Replaying what is larger takes too long for a fuzzer.
constexpr std::size_t kMostChecked = 3000;

// Something of each kind that inputs may meet, by a peer whose ids they use too.
Doc inhabited() {
    Doc doc(3);
    CHECK(doc.text(doc.open(ContainerId::root("r", ContainerKind::text))).insert({0}, "abc é😀"));
    const Handle map = doc.open(ContainerId::root("r", ContainerKind::map));
    CHECK(doc.map(map).set("k", 1));
    const ContainerId child = doc.list(doc.open(ContainerId::root("r", ContainerKind::list)))
                                  .insert_container(0, ContainerKind::text)
                                  .value();
    CHECK(doc.text(doc.open(child)).insert({0}, "in it"));
    doc.commit();
    return doc;
}

struct Seen {
    Bytes history;
    // Each root as JSON, in which NaN equals itself. Several may share a name.
    std::map<ContainerId, std::string> roots;
    Frontiers heads;
    friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen(const Doc& doc) {
    Seen seen{codec::encode_updates(doc.changes_since({})), {}, doc.frontiers()};
    for (const Handle container : crdt::Inspection(doc).written()) {
        const ContainerId& id = doc.id_of(container);
        if (id.is_root()) seen.roots.emplace(id, json::write(doc.value(container)));
    }
    return seen;
}

// Everything that there is at a few versions, and what leads there.
void look_around(Doc& doc) {
    const std::vector<Handle> containers = crdt::Inspection(doc).written();
    const Frontiers last = doc.frontiers();
    Frontiers early;
    for (const Change& change : doc.changes_since({}).changes()) {
        early.assign(1, change.id);
        if (change.id.counter % 3 == 0) break;
    }
    for (const Frontiers& version : {Frontiers{}, early, last}) {
        CHECK(doc.checkout(version));
        CHECK(json::write(doc.value()).size() > 1);
        for (const Handle container : containers) {
            static_cast<void>(doc.is_alive(container));
            static_cast<void>(doc.value(container));
        }
        CHECK(doc.history().diff(version, last) && doc.history().diff(last, version));
    }
    doc.checkout_to_latest();
}

// A snapshot of it shows the same to whoever does not read its history.
void reopen(const Doc& doc, const Seen& whole) {
    const Result<Bytes> saved = codec::encode_snapshot(doc);
    if (!saved) {
        CHECK(lacks_room(saved.error()));
        return;
    }
    const Bytes& blob = *saved;
    Doc lazy(1001);
    // The history that we write can be read, whatever the document was made of.
    CHECK(codec::decode_history(blob).has_value());
    if (!codec::open_snapshot(lazy, blob).value()) return;
    const auto shows_the_same = [&] {
        return std::all_of(whole.roots.begin(), whole.roots.end(), [&](const auto& root) {
            return json::write(lazy.value(lazy.open(root.first))) == root.second;
        });
    };
    CHECK(shows_the_same() && lazy.version() == doc.version());
    CHECK(lazy.history().load());
    CHECK(shows_the_same());
}

// In two halves, the last one first: what waits goes on as if it had come in order.
void import_halves(Decode& decode) {
    const auto changes = decode();
    Doc whole(1000);
    if (!changes || !whole.import(*changes) || whole.history().op_count() > kMostChecked) return;
    const auto middle = changes->begin() + static_cast<std::ptrdiff_t>(changes->size() / 2);
    Doc halves(1000);
    CHECK(halves.import(std::vector<crdt::Change>(middle, changes->end())));
    CHECK(halves.import(std::vector<crdt::Change>(changes->begin(), middle)));
    CHECK(halves.version() == whole.version() && halves.frontiers() == whole.frontiers());
    // Counters add up in the order in which it came.
    const std::vector<Handle> containers = crdt::Inspection(whole).written();
    if (std::none_of(containers.begin(), containers.end(), [&](Handle container) {
            return whole.id_of(container).kind == ContainerKind::counter;
        })) {
        CHECK(seen(halves).roots == seen(whole).roots);
    }
}

void import_into(Doc doc, Decode& decode) {
    // Somebody wants to be told what came.
    const auto subscription = crdt::subscribe_root(doc, [](const Event&) {});
    const Seen before = seen(doc);
    const auto attempt = [&]() -> Result<Imported> { return doc.import(TRY(decode())); };
    const Result<Imported> first = attempt();
    if (!first) {
        CHECK(is_refusal(first.error()));
        CHECK(seen(doc) == before);
        const Result<Imported> second = attempt();
        CHECK(!second && second.error().code() == first.error().code());
        CHECK(seen(doc) == before);
        return;
    }
    const Seen after = seen(doc);
    const Result<Imported> second = attempt();
    CHECK(second && second->success.empty());
    CHECK(seen(doc) == after);
    if (doc.history().op_count() > kMostChecked) return;
    look_around(doc);
    CHECK(seen(doc) == after);
    // The rest compares values, and NaN is not itself.
    if (has_nan(doc)) return;
    crdt::check_invariants(doc);
    reopen(doc, after);
    // The changes that were taken can be sent on.
    Doc other(1000);
    CHECK(other.import(codec::decode_updates(after.history).value()));
    CHECK(seen(other).roots == after.roots && other.frontiers() == after.heads);
}

}  // namespace

bool is_refusal(const Error& error) {
    return error.code() == Errc::corrupt || error.code() == Errc::unsupported ||
           error.code() == Errc::conflict;
}

bool has_nan(Doc& doc) {
    if (doc.value() != doc.value()) return true;
    const std::vector<Handle> written = crdt::Inspection(doc).written();
    return std::any_of(written.begin(), written.end(), [&](Handle container) {
        return doc.id_of(container).kind == ContainerKind::text &&
               doc.text(container).delta() != doc.text(container).delta();
    });
}

bool lacks_room(const Error& error) {
    return error.reason() == "no_container_key";
}

void import_both(std::size_t most, Decode decode) {
    {
        const MemoryBound bound(most);
        Doc doc(1000);
        const auto subscription = crdt::subscribe_root(doc, [](const Event&) {});
        if (auto changes = decode()) static_cast<void>(doc.import(std::move(*changes)));
    }
    import_halves(decode);
    import_into(Doc(1000), decode);
    import_into(inhabited(), decode);
}

}  // namespace quire::fuzz
