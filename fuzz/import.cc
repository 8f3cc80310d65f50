#include "fuzz/import.h"

#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
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
    CHECK(doc.text_insert(doc.open(ContainerId::root("r", ContainerKind::text)), {0}, "abc é😀"));
    const Handle map = doc.open(ContainerId::root("r", ContainerKind::map));
    CHECK(doc.map_set(map, "k", 1));
    const ContainerId child =
        doc.list_insert_container(doc.open(ContainerId::root("r", ContainerKind::list)), 0,
                                  ContainerKind::text)
            .value();
    CHECK(doc.text_insert(doc.open(child), {0}, "in it"));
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
    for (const Handle container : doc.written()) {
        const ContainerId& id = doc.id_of(container);
        if (id.is_root()) seen.roots.emplace(id, json::write(doc.value(container)));
    }
    return seen;
}

void import_into(Doc doc, Decode& decode) {
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
    // Invariants compare values, and NaN is not itself.
    if (doc.op_count() > kMostChecked || doc.value() != doc.value()) return;
    doc.check_invariants();
    // What was taken can be sent on.
    Doc other(1000);
    CHECK(other.import(codec::decode_updates(after.history).value()));
    CHECK(seen(other).roots == after.roots && other.frontiers() == after.heads);
}

}  // namespace

bool is_refusal(const Error& error) {
    return error.code() == Errc::corrupt || error.code() == Errc::unsupported ||
           error.code() == Errc::conflict;
}

void import_both(std::size_t size, Decode decode) {
    {
        const MemoryBound bound(size);
        Doc doc(1000);
        if (auto changes = decode()) static_cast<void>(doc.import(std::move(*changes)));
    }
    import_into(Doc(1000), decode);
    import_into(inhabited(), decode);
}

}  // namespace quire::fuzz
