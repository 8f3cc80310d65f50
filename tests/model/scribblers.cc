#include "tests/model/scribblers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "tests/model/edit_tree.h"

namespace quire::model {

using namespace crdt;

namespace {

// Which kinds are written, the more frequent ones more often.
constexpr ContainerKind kKinds[] = {ContainerKind::text,         ContainerKind::list,
                                    ContainerKind::map,          ContainerKind::tree,
                                    ContainerKind::movable_list, ContainerKind::counter};

const char* root_name(ContainerKind kind) {
    switch (kind) {
        case ContainerKind::map:
            return "map";
        case ContainerKind::list:
            return "list";
        case ContainerKind::text:
            return "text";
        case ContainerKind::tree:
            return "tree";
        case ContainerKind::movable_list:
            return "movable";
        case ContainerKind::counter:
            return "counter";
    }
    return "";
}

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* given = std::getenv(name);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

}  // namespace

Runs::Runs(std::uint64_t otherwise)
    : seed(number_from("SEED", std::random_device{}())),
      count(number_from("QUIRE_STEPS",
                        std::getenv("QUIRE_LONG") != nullptr ? 20 * otherwise : otherwise)) {
    std::printf("SEED=%llu QUIRE_STEPS=%llu\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(count));
}

Scribblers::Scribblers(std::uint64_t seed, std::size_t peers) : random_(seed) {
    for (std::size_t i = 0; i < peers; ++i) docs_.push_back(std::make_unique<Doc>(10 * (i + 1)));
}

void Scribblers::step() {
    const std::size_t index = below(count());
    if (below(4) == 0) return exchange(index);
    Doc& to = doc(index);
    for (std::size_t i = below(4) + 1; i > 0; --i) edit(to);
    if (below(3) > 0) commit(to);
}

void Scribblers::exchange(std::size_t index) {
    Doc& to = doc(index);
    Doc& from = doc(below(count()));
    if (&from == &to) return;
    commit(from);
    commit(to);
    CHECK(to.import(from.changes_since(to.history().version())).has_value());
}

void Scribblers::meet() {
    for (auto& doc : docs_) commit(*doc);
    for (auto& to : docs_) {
        for (auto& from : docs_) {
            if (from != to)
                CHECK(to->import(from->changes_since(to->history().version())).has_value());
        }
    }
}

void Scribblers::commit(Doc& doc) {
    if (doc.commit({.message = below(4) == 0 ? "note" : ""}).empty()) return;
    moments_.push_back({doc.frontiers(), doc.version(), doc.value()});
    if (moments_.size() % 4 == 0) doc.fit();
}

Scribblers Scribblers::twin() const {
    Scribblers twin(0, 0);
    twin.random_ = random_;
    twin.children_ = children_;
    return twin;
}

ContainerKind Scribblers::any_kind() {
    return kKinds[below(std::size(kKinds))];
}

// A container of this kind: the root, or a child that somebody made.
Handle Scribblers::pick(Doc& doc, ContainerKind kind) {
    std::vector<ContainerId> found{ContainerId::root(root_name(kind), kind)};
    for (const ContainerId& child : children_) {
        if (child.kind == kind && doc.is_alive(doc.open(child))) found.push_back(child);
    }
    return doc.open(below(3) == 0 ? found[0] : found[below(found.size())]);
}

void Scribblers::edit(Doc& doc) {
    const ContainerKind kind = any_kind();
    const Handle at = pick(doc, kind);
    switch (kind) {
        case ContainerKind::text:
            return edit_text(doc, at);
        case ContainerKind::list:
            return edit_list(doc, at);
        case ContainerKind::map:
            return edit_map(doc, at);
        case ContainerKind::tree:
            if (const auto made = edit_tree(doc, at, [&](std::size_t n) { return below(n); }))
                children_.push_back(*made);
            return;
        case ContainerKind::movable_list:
            return edit_movable(doc, at);
        case ContainerKind::counter:
            CHECK(doc.counter(at).add(static_cast<double>(below(33)) / 4 - 4));
            return;
    }
}

void Scribblers::edit_text(Doc& doc, Handle text) {
    static constexpr const char* kWords[] = {"a", "bc", "\n", "\xC3\xA9", "\xF0\x9F\x98\x80x"};
    const std::size_t size = doc.text(text).rope().code_points().n;
    const std::size_t at = below(size + 1);
    if (below(5) < 3 || at == size) {
        CHECK(doc.text(text).insert({at}, kWords[below(5)]));
    } else if (below(2) == 0) {
        CHECK(doc.text(text).erase({at}, {std::min(size - at, below(3) + 1)}));
    } else {
        static constexpr const char* kStyles[] = {"bold", "link", "italic"};
        const text::CodePoint end{at + 1 + below(size - at)};
        const Value value = below(3) == 0 ? Value() : Value(static_cast<std::int64_t>(below(3)));
        CHECK(doc.text(text).mark({at}, end, kStyles[below(3)], value));
    }
}

void Scribblers::edit_list(Doc& doc, Handle list) {
    const std::size_t size = doc.list(list).size();
    const std::size_t at = below(size + 1);
    const std::size_t what = below(6);
    if (what == 0) {
        children_.push_back(*doc.list(list).insert_container(at, any_kind()));
    } else if (what < 4 || at == size) {
        CHECK(doc.list(list).insert(at, static_cast<std::int64_t>(below(100))));
    } else {
        CHECK(doc.list(list).erase(at, std::min(size - at, below(3) + 1)));
    }
}

void Scribblers::edit_movable(Doc& doc, Handle list) {
    const std::size_t size = doc.movable_list(list).size();
    const std::size_t what = below(10);
    const auto number = static_cast<std::int64_t>(below(100));
    if (size == 0 || what < 2) {
        CHECK(doc.movable_list(list).insert(below(size + 1), number));
    } else if (what < 5) {
        CHECK(doc.movable_list(list).move(below(size), below(size)));
    } else if (what < 6) {
        children_.push_back(*doc.movable_list(list).insert_container(below(size + 1), any_kind()));
    } else if (what < 7) {
        children_.push_back(*doc.movable_list(list).set_container(below(size), any_kind()));
    } else if (what < 9) {
        CHECK(doc.movable_list(list).set(below(size), number));
    } else {
        const std::size_t from = below(size);
        CHECK(doc.movable_list(list).erase(from, std::min(size - from, below(3) + 1)));
    }
}

void Scribblers::edit_map(Doc& doc, Handle map) {
    const std::string key(1, static_cast<char>('a' + below(4)));
    const std::size_t what = below(6);
    if (what == 0) {
        CHECK(doc.map(map).erase(key));
    } else if (what == 1) {
        children_.push_back(*doc.map(map).insert_container(key, any_kind()));
    } else {
        CHECK(doc.map(map).set(key, static_cast<std::int64_t>(below(5))));
    }
}

}  // namespace quire::model
