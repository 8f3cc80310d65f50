// A document takes the history of any snapshot whole or stays as it was; opened without its
// history, it shows something or says what is wrong. Checksums are made to fit first, and mutations
// are of changes, ops and states.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/shallow_snapshot.h"
#include "codec/snapshot.h"
#include "codec/snapshot_reseal_for_test.h"
#include "codec/snapshot_writer.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "fuzz/import.h"
#include "fuzz/memory_bound.h"
#include "fuzz/mutator.h"
#include "json/json.h"

using namespace quire;

namespace {

Bytes resealed(std::span<const std::uint8_t> data) {
    Bytes blob(data.begin(), data.end());
    codec::reseal_snapshot(blob);
    return blob;
}

void mutate(codec::ContainerState& container, fuzz::Chance& chance) {
    if (chance.one_in(6)) ++container.depth;
    if (auto* text = std::get_if<codec::TextState>(&container.state)) {
        if (chance.one_in(2)) text->text += "x";
        if (!text->spans.empty())
            text->spans[chance.below(text->spans.size())].first.id.counter += 1;
    } else if (auto* list = std::get_if<codec::ListState>(&container.state)) {
        if (!list->ids.empty()) list->ids[chance.below(list->ids.size())].first.id.counter += 1;
    } else if (auto* map = std::get_if<codec::MapState>(&container.state)) {
        for (codec::MapRegister& entry : map->registers) {
            if (!chance.one_in(3)) continue;
            entry.value = crdt::ContainerId::normal(
                {1, static_cast<crdt::Counter>(chance.below(9))}, crdt::ContainerKind::map);
        }
    } else if (auto* tree = std::get_if<codec::TreeState>(&container.state)) {
        for (codec::TreeNode& node : tree->nodes) {
            if (chance.one_in(3)) node.parent.reset();
        }
    }
}

[[maybe_unused]] Bytes rewritten(std::span<const std::uint8_t> input, fuzz::Chance& chance) {
    const Bytes blob = resealed(input);
    const auto snapshot = codec::Snapshot::open(blob);
    if (!snapshot || !snapshot->state_version()) return {};
    auto changes = snapshot->changes();
    if (!changes) return {};
    const bool of_states = chance.one_in(2);
    crdt::VersionVector end = snapshot->end();
    if (!of_states) {
        fuzz::mutate(*changes, chance);
        for (const crdt::Change& change : *changes)
            end.extend(change.id.peer, change.id.counter + crdt::atom_count(change));
        // Two blocks cannot begin with the same atom.
        std::sort(changes->begin(), changes->end(),
                  [](const crdt::Change& a, const crdt::Change& b) { return a.id < b.id; });
        changes->erase(
            std::unique(changes->begin(), changes->end(),
                        [](const crdt::Change& a, const crdt::Change& b) { return a.id == b.id; }),
            changes->end());
    }
    codec::SnapshotWriter writer(chance.one_in(2) ? codec::Compression::lz4
                                                  : codec::Compression::none);
    writer.add_changes(*changes);
    codec::Budget budget = snapshot->budget();
    // A trimmed history is replayed on the state at its start.
    const bool is_trimmed = snapshot->start().has_value();
    if (is_trimmed) writer.leave_out_state();
    const auto ids = is_trimmed ? snapshot->start_containers(budget) : snapshot->containers(budget);
    if (!ids) return {};
    for (const crdt::ContainerId& id : *ids) {
        auto state = is_trimmed ? snapshot->start_state(id, budget) : snapshot->state(id, budget);
        if (!state || !*state) return {};
        if (of_states && chance.one_in(3)) mutate(**state, chance);
        if (chance.one_in(20)) continue;
        if (!is_trimmed) {
            if (!writer.add_state(**state)) return {};
            continue;
        }
        ByteWriter stored;
        codec::write_container_state(stored, **state);
        if (!writer.add_stored_start_state(id, std::move(stored).take())) return {};
    }
    auto out = std::move(writer).finish(end, snapshot->heads(), snapshot->start());
    return out ? std::move(*out) : Bytes();
}

// Every container that snapshots of the corpus have, as it is shown.
constexpr std::pair<const char*, crdt::ContainerKind> kRoots[] = {
    {"text", crdt::ContainerKind::text}, {"map", crdt::ContainerKind::map},
    {"list", crdt::ContainerKind::list}, {"list", crdt::ContainerKind::movable_list},
    {"tree", crdt::ContainerKind::tree}, {"counter", crdt::ContainerKind::counter},
};

std::string shown(crdt::Doc& doc) {
    std::string all;
    for (const auto& [name, kind] : kRoots)
        all += json::write(doc.value(doc.open(crdt::ContainerId::root(name, kind))));
    return all;
}

// A few edits of all that is there, anywhere. What is refused is refused for a reason.
void edit(crdt::Doc& doc, std::size_t seed) {
    fuzz::Chance chance(seed);
    const auto may_fail = [](const auto& result) {
        CHECK(result || result.error().code() != Errc::corrupt);
    };
    const auto open = [&](std::size_t i) {
        return doc.open(crdt::ContainerId::root(kRoots[i].first, kRoots[i].second));
    };
    const crdt::Handle text = open(0);
    const std::size_t characters = doc.text(text).rope().code_points().n;
    const std::size_t at = chance.below(characters + 1);
    may_fail(doc.text(text).insert({at}, "é"));
    may_fail(doc.text(text).mark({at / 2}, {at + 1}, "bold", true));
    may_fail(doc.text(text).erase({at / 2}, {1}));
    static_cast<void>(doc.text(text).delta());
    may_fail(crdt::cursor_at(doc, text, at));
    const crdt::Handle map = open(1);
    for (const std::string& key : doc.map(map).keys()) {
        if (chance.one_in(2)) may_fail(doc.map(map).set(key, 1));
        const auto child = doc.map(map).child(key);
        if (child && child->kind == crdt::ContainerKind::text)
            may_fail(doc.text(doc.open(*child)).insert({0}, "x"));
    }
    // Both have one name, which only one root may have where values are compared by name.
    const crdt::Handle list = open(2);
    const crdt::Handle movable = open(3);
    if (doc.list(list).size() > 0) {
        may_fail(doc.list(list).insert(chance.below(doc.list(list).size() + 1), 1));
        may_fail(doc.list(list).erase(0, 1));
    } else {
        may_fail(doc.movable_list(movable).insert_container(0, crdt::ContainerKind::map));
        const std::size_t size = std::max<std::size_t>(1, doc.movable_list(movable).size());
        may_fail(doc.movable_list(movable).move(chance.below(size), chance.below(size)));
        may_fail(doc.movable_list(movable).set(chance.below(size), 7));
        may_fail(doc.movable_list(movable).erase(chance.below(size), size > 1 ? 1 : 0));
    }
    const crdt::Handle tree = open(4);
    may_fail(doc.tree(tree).create());
    const std::vector<crdt::TreeNode> nodes = doc.tree(tree).nodes();
    if (!nodes.empty()) {
        const crdt::OpId node = nodes[chance.below(nodes.size())].id;
        const crdt::OpId other = nodes[chance.below(nodes.size())].id;
        may_fail(doc.tree(tree).move(node, other));
        may_fail(doc.tree(tree).create(other, 0));
        may_fail(doc.tree(tree).erase(node));
    }
    may_fail(doc.counter(open(5)).add(2));
}

// Invariants compare values, and NaN is not itself.
void check(crdt::Doc& doc) {
    if (!fuzz::has_nan(doc)) crdt::check_invariants(doc);
}

// Trims the document to a version, which shows the same when it is opened, and shows the start of a shallow one.
void trim(crdt::Doc& doc, const crdt::Frontiers& version) {
    const auto blob = codec::encode_shallow_snapshot(doc, version);
    if (!blob) {
        CHECK(fuzz::lacks_room(blob.error()));
        return;
    }
    crdt::Doc trimmed(5);
    const bool opened = codec::open_snapshot(trimmed, *blob).value();
    if (!opened) CHECK(trimmed.import(codec::decode_history(*blob).value()));
    CHECK(trimmed.version() == doc.history().version());
    CHECK(shown(trimmed) == shown(doc));
    edit(trimmed, blob->size());
    trimmed.commit();
    check(trimmed);
    const auto start = doc.history().start();
    if (start == nullptr) return;
    CHECK(doc.checkout(start->frontiers()));
    static_cast<void>(shown(doc));
    CHECK(!doc.checkout({}));
    doc.checkout_to_latest();
}

// Saves the document, perhaps without its history being read. What is saved opens, and shows the same.
void save(crdt::Doc& doc) {
    const auto saved = codec::encode_snapshot(doc);
    if (!saved) {
        CHECK(fuzz::is_refusal(saved.error()) || fuzz::lacks_room(saved.error()));
        return;
    }
    crdt::Doc again(6);
    const auto opened = codec::open_snapshot(again, *saved);
    CHECK(opened.has_value());
    if (!*opened) return;
    CHECK(shown(again) == shown(doc));
    CHECK(again.version() == doc.history().version());
    static_cast<void>(again.history().load());
}

void look_at(const Bytes& blob, std::size_t size) {
    crdt::Doc doc(4);
    {
        const fuzz::MemoryBound bound(fuzz::most_memory(blob));
        const auto opened = codec::open_snapshot(doc, blob);
        if (!opened || !*opened) {
            CHECK(opened || fuzz::is_refusal(opened.error()));
            CHECK(crdt::is_blank(doc));
            return;
        }
    }
    if (size % 2 == 0) save(doc);
    edit(doc, size);
    doc.commit({.want_diff = true});
    save(doc);
    edit(doc, size / 3);  // Is pending while the history comes in.
    const std::string before = shown(doc);
    const crdt::VersionVector version = doc.version();
    const auto loaded = doc.history().load();
    CHECK(doc.version() == version);
    if (!loaded) {
        CHECK(fuzz::is_refusal(loaded.error()) && !doc.history().is_loaded());
        CHECK(shown(doc) == before);
        return;
    }
    doc.commit({.want_diff = true});
    check(doc);
    edit(doc, size / 2);
    doc.commit();
    check(doc);
    const auto whole = codec::encode_snapshot(doc);
    CHECK(whole || fuzz::lacks_room(whole.error()));
    trim(doc, doc.history().frontiers());
    const std::vector<crdt::Change> changes = doc.changes_since({}).changes();
    if (changes.empty()) return;
    trim(doc, {changes[size % changes.size()].id});
    // An atom that is in the middle of a change is a version too.
    fuzz::Chance chance(size);
    for (int i = 0; i < 4; ++i) {
        const crdt::Change& change = changes[chance.below(changes.size())];
        const auto atoms = static_cast<std::size_t>(crdt::atom_count(change));
        trim(doc, {{change.id.peer,
                    change.id.counter + static_cast<crdt::Counter>(chance.below(atoms))}});
    }
}

}  // namespace

#ifdef QUIRE_LIBFUZZER
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
    return fuzz::mutate_bytes(data, size, max_size, seed, rewritten);
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes blob = resealed({data, size});
    fuzz::import_both(fuzz::most_memory(blob), [&] { return codec::decode_history(blob); });
    look_at(blob, size);
    return 0;
}
