// Replica: a document of one peer with one text, one list and one map, and short names for the
// edits of tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::crdt {

inline ContainerId text_root(std::string name) {
    return ContainerId::root(std::move(name), ContainerKind::text);
}

// Takes in what `from` has and `to` has not.
inline Imported pull_into(Doc& to, Doc& from, ImportOptions options = {}) {
    to.commit();
    from.commit();
    auto imported = to.import(from.changes_since(to.version()), std::move(options));
    EXPECT_TRUE(imported.has_value());
    return imported ? *std::move(imported) : Imported{};
}

struct Replica {
    explicit Replica(PeerId peer)
        : doc(peer),
          text(doc.open(text_root("t"))),
          list(doc.open(ContainerId::root("l", ContainerKind::list))),
          map(doc.open(ContainerId::root("m", ContainerKind::map))) {}

    void type(std::size_t at, std::string_view what) {
        EXPECT_TRUE(doc.text(text).insert({at}, what));
    }
    void erase(std::size_t at, std::size_t count) {
        EXPECT_TRUE(doc.text(text).erase({at}, {count}));
    }
    void push(Value value) {
        EXPECT_TRUE(doc.list(list).insert(doc.list(list).size(), std::move(value)));
    }
    void set(std::string_view key, Value value) {
        EXPECT_TRUE(doc.map(map).set(key, std::move(value)));
    }
    std::string read() const { return doc.text(text).rope().str(); }
    Commit commit(std::string message = "") { return doc.commit({.message = std::move(message)}); }
    Imported pull(Replica& other) { return pull_into(doc, other.doc); }

    Doc doc;
    Handle text, list, map;
};

// Each takes in what the other has. Expects that both show the same then.
template <class One>
void sync(One& a, One& b) {
    a.pull(b);
    b.pull(a);
    EXPECT_EQ(a.doc.value(), b.doc.value());
    check_invariants(a.doc);
    check_invariants(b.doc);
}

}  // namespace quire::crdt
