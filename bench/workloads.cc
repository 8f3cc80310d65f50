#include "bench/workloads.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "base/check.h"
#include "base/concat.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"

namespace quire::bench {

namespace {

using namespace crdt;

constexpr std::size_t kCrowdStart = 1000;

Bytes all_of(const Doc& doc) {
    return codec::encode_updates(doc.changes_since({}));
}

// A text or list of 1,000 characters by peer 1.
Doc start(bool in_list) {
    Doc doc(1);
    if (in_list) {
        const Handle list = doc.open(list_id());
        for (std::size_t i = 0; i < kCrowdStart; ++i) CHECK(doc.list(list).insert(i, "x"));
    } else {
        CHECK(doc.text(doc.open(text_id())).insert({0}, std::string(kCrowdStart, 'x')));
    }
    doc.commit({.want_diff = false});
    return doc;
}

const std::optional<traces::Concurrent>& concurrent_trace(const std::string& name) {
    static std::map<std::string, std::optional<traces::Concurrent>> read;
    const auto [at, added] = read.try_emplace(name);
    if (added) at->second = traces::concurrent(name);
    return at->second;
}

}  // namespace

const ContainerId& text_id() {
    static const ContainerId id = ContainerId::root("text", ContainerKind::text);
    return id;
}

const ContainerId& list_id() {
    static const ContainerId id = ContainerId::root("list", ContainerKind::list);
    return id;
}

const ContainerId& map_id() {
    static const ContainerId id = ContainerId::root("map", ContainerKind::map);
    return id;
}

const ContainerId& tree_id() {
    static const ContainerId id = ContainerId::root("tree", ContainerKind::tree);
    return id;
}

const traces::Sequential* sequential(const std::string& name) {
    static std::map<std::string, std::optional<traces::Sequential>> read;
    const auto [at, added] = read.try_emplace(name);
    if (added) at->second = traces::sequential(name);
    return at->second ? &*at->second : nullptr;
}

void apply(Doc& doc, const traces::Patch& patch) {
    const Handle text = doc.open(text_id());
    const std::size_t size = doc.text(text).rope().code_points().n;
    const std::size_t at = std::min(patch.at, size);
    const std::size_t erase = std::min(patch.erase, size - at);
    if (erase > 0) CHECK(doc.text(text).erase({at}, {erase}));
    if (!patch.insert.empty()) CHECK(doc.text(text).insert({at}, patch.insert));
}

std::string text_of(Doc& doc) {
    return doc.text(doc.open(text_id())).rope().str();
}

std::optional<std::vector<Bytes>> concurrent(const std::string& name, bool one_by_one) {
    const auto& trace = concurrent_trace(name);
    if (!trace) return std::nullopt;
    // The histories of many writers are taken by position: a replica for each would take minutes.
    const bool few = trace->agents < 10;
    const std::vector<Change> changes =
        few ? traces::as_changes(*trace, text_id()) : traces::as_positions(*trace, text_id());
    if (!one_by_one) return std::vector<Bytes>{codec::encode_updates(changes)};
    std::vector<Bytes> blobs;
    for (const Change& change : changes) blobs.push_back(codec::encode_updates({change}));
    return blobs;
}

std::string end_of(const std::string& name) {
    const auto& trace = concurrent_trace(name);
    // The text recorded for A2 depends on names that the recording leaves out.
    return trace && name != "A2-git-makefile" ? trace->end : "";
}

std::vector<Bytes> two_branches(std::size_t edits) {
    const Doc base = start(false);
    std::vector<Bytes> blobs{all_of(base)};
    std::mt19937_64 random(7);
    for (const PeerId peer : {PeerId{2}, PeerId{3}}) {
        Doc branch(peer);
        CHECK(branch.import(base.changes_since({})));
        const Handle text = branch.open(text_id());
        for (std::size_t i = 0; i < edits; ++i) {
            const auto at = static_cast<std::size_t>(random() % (kCrowdStart + i));
            const auto letter = static_cast<char>('a' + i % 26);
            CHECK(branch.text(text).insert({at}, std::string(1, letter)));
        }
        branch.commit({.want_diff = false});
        blobs.push_back(codec::encode_updates(branch.changes_since(base.version())));
    }
    return blobs;
}

std::optional<std::vector<Bytes>> two_halves(const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return std::nullopt;
    std::vector<Bytes> blobs;
    const std::size_t half = trace->patches.size() / 2;
    for (const bool second : {false, true}) {
        Doc doc(second ? 2 : 1);
        for (std::size_t i = 0; i < half; ++i) apply(doc, trace->patches[i + (second ? half : 0)]);
        doc.commit({.want_diff = false});
        blobs.push_back(all_of(doc));
    }
    return blobs;
}

std::optional<Bytes> history_of(const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return std::nullopt;
    Doc doc(1);
    for (const traces::Patch& patch : trace->patches) apply(doc, patch);
    doc.commit({.want_diff = false});
    return all_of(doc);
}

std::vector<Bytes> crowd(const Crowd& crowd) {
    const Doc base = start(crowd.in_list);
    std::vector<Bytes> blobs{all_of(base)};
    std::vector<PeerId> ids(crowd.peers);
    std::iota(ids.begin(), ids.end(), PeerId{2});
    if (crowd.ids == Crowd::Ids::descending) std::reverse(ids.begin(), ids.end());
    if (crowd.ids == Crowd::Ids::random)
        std::shuffle(ids.begin(), ids.end(), std::mt19937_64(crowd.peers));
    for (std::size_t i = 0; i < crowd.peers; ++i) {
        Doc doc(ids[i]);
        CHECK(doc.import(base.changes_since({}), {.want_diff = false}));
        const std::size_t at = crowd.place == Crowd::Place::spread      ? i * 37 % kCrowdStart
                               : crowd.place == Crowd::Place::one_place ? kCrowdStart / 2
                                                                        : kCrowdStart;
        if (crowd.in_list) {
            CHECK(doc.list(doc.open(list_id())).insert(at, "y"));
        } else {
            CHECK(doc.text(doc.open(text_id())).insert({at}, "y"));
        }
        doc.commit({.want_diff = false});
        blobs.push_back(codec::encode_updates(doc.changes_since(base.version())));
    }
    return blobs;
}

Bytes large_map(std::size_t keys) {
    Doc doc(1);
    const Handle map = doc.open(map_id());
    for (std::size_t i = 0; i < keys; ++i)
        CHECK(doc.map(map).set(map_key(i), static_cast<std::int64_t>(i)));
    doc.commit({.want_diff = false});
    return all_of(doc);
}

Bytes large_tree(std::size_t nodes) {
    Doc doc(1);
    const Handle tree = doc.open(tree_id());
    std::vector<OpId> ids;
    for (const TreeStep& step : tree_steps(nodes)) {
        const auto parent =
            step.parent == TreeStep::kRoot ? std::nullopt : std::optional(ids[step.parent]);
        if (step.creates) {
            ids.push_back(doc.tree(tree).create(parent).value());
        } else {
            CHECK(doc.tree(tree).move(ids[step.node], parent));
        }
    }
    doc.commit({.want_diff = false});
    return all_of(doc);
}

std::vector<traces::Patch> random_edits(std::size_t count) {
    std::mt19937_64 random(11);
    std::vector<traces::Patch> edits;
    std::size_t size = 0;
    while (edits.size() < count) {
        if (size > 0 && random() % 4 == 0) {
            edits.push_back({static_cast<std::size_t>(random() % size), 1, ""});
            --size;
        } else {
            const auto letter = static_cast<char>('a' + random() % 26);
            edits.push_back(
                {static_cast<std::size_t>(random() % (size + 1)), 0, std::string(1, letter)});
            ++size;
        }
    }
    return edits;
}

std::vector<Mark> random_marks(std::size_t count) {
    std::mt19937_64 random(1);
    std::vector<Mark> marks;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = random() % (count - 1);
        const std::size_t end = begin + 1 + random() % std::min<std::size_t>(50, count - begin);
        marks.push_back({begin, std::min(end, count), i % 2 == 0 ? "bold" : "link",
                         static_cast<std::int64_t>(i)});
    }
    return marks;
}

std::vector<TreeStep> tree_steps(std::size_t nodes) {
    std::mt19937_64 random(1);
    std::vector<TreeStep> steps;
    const auto below = [&](std::size_t node) {
        return node == 0 || random() % 3 == 0 ? TreeStep::kRoot
                                              : static_cast<std::size_t>(random() % node);
    };
    for (std::size_t i = 0; i < nodes; ++i) steps.push_back({true, i, below(i)});
    for (std::size_t i = 0; i < nodes; ++i) steps.push_back({false, i, below(i)});
    return steps;
}

std::string map_key(std::size_t number) {
    return cat("key ", number);
}

}  // namespace quire::bench
