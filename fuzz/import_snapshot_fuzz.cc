// Whatever snapshot a peer sends: a document takes its history whole or stays as it was; opened
// without its history it shows something or says what is wrong. Checksums are made to fit first,
// and mutations are of changes, ops and states.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "codec/document.h"
#include "codec/open_snapshot.h"
#include "codec/snapshot.h"
#include "codec/snapshot_reseal_for_test.h"
#include "codec/snapshot_writer.h"
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
    if (!snapshot || snapshot->start() || !snapshot->state_version()) return {};
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
    const auto ids = snapshot->containers(budget);
    if (!ids) return {};
    for (const crdt::ContainerId& id : *ids) {
        auto state = snapshot->state(id, budget);
        if (!state || !*state) return {};
        if (of_states && chance.one_in(3)) mutate(**state, chance);
        if (chance.one_in(20)) continue;
        if (!writer.add_state(**state)) return {};
    }
    auto out = std::move(writer).finish(end, snapshot->heads());
    return out ? std::move(*out) : Bytes();
}

void look_at(const Bytes& blob, std::size_t size) {
    crdt::Doc doc(4);
    {
        const fuzz::MemoryBound bound(size);
        const auto opened = codec::open_snapshot(doc, blob);
        if (!opened || !*opened) {
            CHECK(opened || fuzz::is_refusal(opened.error()));
            CHECK(doc.is_blank());
            return;
        }
    }
    const crdt::Handle text = doc.open(crdt::ContainerId::root("text", crdt::ContainerKind::text));
    const std::size_t characters = doc.text(text).code_points().n;
    CHECK(doc.text_insert(text, {characters / 2}, "é"));
    CHECK(doc.text_erase(text, {characters / 2}, {characters > 0 ? 2U : 1U}));
    doc.commit({.want_diff = true});
    const std::string before = json::write(doc.value(text));
    const crdt::VersionVector version = doc.version();
    const auto loaded = doc.load_history();
    CHECK(doc.version() == version);
    if (loaded) return;
    CHECK(fuzz::is_refusal(loaded.error()) && !doc.has_history());
    CHECK(json::write(doc.value(text)) == before);
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
    fuzz::import_both(size, [&] { return codec::decode_history(blob); });
    look_at(blob, size);
    return 0;
}
