#include "bench/workloads.h"

#include <algorithm>
#include <map>
#include <random>

#include "base/check.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"

namespace quire::bench {

namespace {

using namespace crdt;

void apply(Doc& doc, Handle text, const traces::Patch& patch) {
    const std::size_t size = doc.text(text).rope().code_points().n;
    const std::size_t at = std::min(patch.at, size);
    const std::size_t erase = std::min(patch.erase, size - at);
    if (erase > 0) CHECK(doc.text(text).erase({at}, {erase}).has_value());
    if (!patch.insert.empty()) CHECK(doc.text(text).insert({at}, patch.insert).has_value());
}

Bytes all_of(const Doc& doc) {
    return codec::encode_updates(doc.changes_since({}));
}

// A text of 1,000 characters by peer 1.
Doc start() {
    Doc doc(1);
    CHECK(doc.text(doc.open(text_id())).insert({0}, std::string(1000, 'x')).has_value());
    doc.commit();
    return doc;
}

}  // namespace

const ContainerId& text_id() {
    static const ContainerId id = ContainerId::root("text", ContainerKind::text);
    return id;
}

const traces::Sequential* sequential(const std::string& name) {
    static std::map<std::string, std::optional<traces::Sequential>> read;
    const auto [at, added] = read.try_emplace(name);
    if (added) at->second = traces::sequential(name);
    return at->second ? &*at->second : nullptr;
}

std::optional<Merging> concurrent(const std::string& name) {
    const auto trace = traces::concurrent(name);
    if (!trace) return std::nullopt;
    // The histories of many writers are taken by position: a replica for each would take minutes.
    const bool few = trace->agents < 10;
    const std::vector<Change> changes =
        few ? traces::as_changes(*trace, text_id()) : traces::as_positions(*trace, text_id());
    // The text recorded for A2 depends on names that the recording leaves out.
    return Merging{{codec::encode_updates(changes)}, name == "A2-git-makefile" ? "" : trace->end};
}

Merging two_branches(std::size_t edits) {
    const Doc base = start();
    Merging merging{{all_of(base)}, ""};
    std::mt19937_64 random(7);
    for (const PeerId peer : {PeerId{2}, PeerId{3}}) {
        Doc branch(peer);
        CHECK(branch.import(base.changes_since({})).has_value());
        const Handle text = branch.open(text_id());
        for (std::size_t i = 0; i < edits; ++i) {
            const auto at = static_cast<std::size_t>(random() % (1000 + i));
            CHECK(branch.text(text)
                      .insert({at}, std::string(1, static_cast<char>('a' + i % 26)))
                      .has_value());
        }
        branch.commit();
        merging.blobs.push_back(codec::encode_updates(branch.changes_since(base.version())));
    }
    return merging;
}

std::optional<Merging> two_halves(const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return std::nullopt;
    Merging merging;
    const std::size_t half = trace->patches.size() / 2;
    for (const bool second : {false, true}) {
        Doc doc(second ? 2 : 1);
        const Handle text = doc.open(text_id());
        for (std::size_t i = 0; i < half; ++i)
            apply(doc, text, trace->patches[i + (second ? half : 0)]);
        doc.commit();
        merging.blobs.push_back(all_of(doc));
    }
    return merging;
}

Merging many_peers(std::size_t peers) {
    const Doc base = start();
    Merging merging{{all_of(base)}, ""};
    for (std::size_t i = 0; i < peers; ++i) {
        Doc doc(2 + i);
        CHECK(doc.import(base.changes_since({})).has_value());
        CHECK(doc.text(doc.open(text_id())).insert({i * 37 % 1000}, "y").has_value());
        doc.commit();
        merging.blobs.push_back(codec::encode_updates(doc.changes_since(base.version())));
    }
    return merging;
}

std::optional<Bytes> history_of(const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return std::nullopt;
    Doc doc(1);
    const Handle text = doc.open(text_id());
    for (const traces::Patch& patch : trace->patches) apply(doc, text, patch);
    doc.commit();
    return all_of(doc);
}

}  // namespace quire::bench
