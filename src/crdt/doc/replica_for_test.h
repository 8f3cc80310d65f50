// Replica: a document of one peer with one text, one list and one map, and short words for what
// tests do with them.
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
    // Takes in what `other` has and this has not.
    Imported pull(Replica& other) {
        doc.commit();
        other.doc.commit();
        auto imported = doc.import(other.doc.changes_since(doc.version()));
        EXPECT_TRUE(imported.has_value());
        return imported ? *std::move(imported) : Imported{};
    }

    Doc doc;
    Handle text, list, map;
};

// Each takes in what the other has; both show the same then.
template <class One>
void sync(One& a, One& b) {
    a.pull(b);
    b.pull(a);
    EXPECT_EQ(a.doc.value(), b.doc.value());
    check_invariants(a.doc);
    check_invariants(b.doc);
}

}  // namespace quire::crdt
