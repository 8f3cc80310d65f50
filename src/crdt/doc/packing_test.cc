// Packed containers: a document that packs whatever it can at any moment reads, edits, merges and
// exports as one that never packs.
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

const ContainerId kBlocks = ContainerId::root("blocks", ContainerKind::list);
const ContainerId kHead = ContainerId::root("head", ContainerKind::map);

// A conversation in small: a list of maps, each with entries and a text.
struct Desk {
    explicit Desk(PeerId peer) : doc(peer), blocks(doc.open(kBlocks)), head(doc.open(kHead)) {}

    std::vector<Handle> maps() {
        std::vector<Handle> out;
        for (std::size_t i = 0; i < doc.list(blocks).size(); ++i)
            out.push_back(doc.open(doc.list(blocks).child(i)));
        return out;
    }
    Handle text_of(Handle map) { return doc.open(*doc.map(map).child("content")); }

    // Adds a map with a text.
    Handle add(std::size_t at) {
        const Handle map = doc.open(*doc.list(blocks).insert_container(at, ContainerKind::map));
        EXPECT_TRUE(doc.map(map).insert_container("content", ContainerKind::text));
        return map;
    }

    Doc doc;
    Handle blocks, head;
};

Value random_value(std::mt19937& random, int depth) {
    switch (random() % (depth > 2 ? 6 : 8)) {
        case 0:
            return nullptr;
        case 1:
            return random() % 2 == 0;
        case 2:
            return static_cast<std::int64_t>(random()) - (std::int64_t{1} << 31);
        case 3:
            return static_cast<double>(random()) / 7;
        case 4:
            return std::string(random() % 20, 'x');
        case 5:
            return Bytes(random() % 5, std::uint8_t{0xFF});
        case 6: {
            List list;
            for (std::size_t i = random() % 3; i > 0; --i)
                list.push_back(random_value(random, depth + 1));
            return list;
        }
        default: {
            Map map;
            for (std::size_t i = random() % 3; i > 0; --i)
                map.set(std::to_string(i), random_value(random, depth + 1));
            return map;
        }
    }
}

// One edit, the same on each desk.
void edit(std::mt19937& random, const std::vector<Desk*>& desks) {
    const auto seed = static_cast<unsigned>(random());
    for (Desk* const desk : desks) {
        std::mt19937 again(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(again()) % n; };
        Doc& doc = desk->doc;
        const std::vector<Handle> maps = desk->maps();
        const std::size_t which = below(12);
        if (which == 0 || maps.empty()) {
            const Handle map = desk->add(below(maps.size() + 1));
            ASSERT_TRUE(doc.map(map).set("role", "user"));
            const Handle text = desk->text_of(map);
            if (below(3) != 0) {
                ASSERT_TRUE(doc.text(text).insert({0}, "h\u00e9llo"));
            }
        } else if (which == 1 && maps.size() > 4) {
            ASSERT_TRUE(doc.list(desk->blocks).erase(below(maps.size()), 1));
        } else if (which < 5) {
            const Handle map = below(4) == 0 ? desk->head : maps[below(maps.size())];
            const std::string key = below(9) == 0
                                        ? std::to_string(again())
                                        : std::string(1, static_cast<char>('a' + below(5)));
            if (below(4) == 0) {
                ASSERT_TRUE(doc.map(map).erase(key));
            } else {
                ASSERT_TRUE(doc.map(map).set(key, random_value(again, 0)));
            }
        } else {
            const Handle text = desk->text_of(maps[below(maps.size())]);
            const std::size_t size = doc.text(text).rope().code_points().n;
            const std::size_t at = below(3) == 0 ? below(size + 1) : size;
            if (below(3) == 0 && size > at) {
                ASSERT_TRUE(doc.text(text).erase({at}, {1 + below(size - at)}));
            } else if (below(12) == 0 && size > 1) {
                ASSERT_TRUE(doc.text(text).mark({0}, {1 + below(size - 1)}, "bold", true));
            } else {
                ASSERT_TRUE(doc.text(text).insert({at}, std::string(1 + below(9), 'y')));
            }
        }
    }
}

TEST(Packing, ChangesNothingThatAnybodySees) {
    const unsigned seeds = std::getenv("QUIRE_LONG") != nullptr ? 20'000 : 300 / kRoundsShare;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Desk packed(1);
        Desk plain(1);
        Desk other(2);
        for (int step = 0; step < 60; ++step) {
            edit(random, {&packed, &plain});
            if (HasFatalFailure()) return;
            switch (random() % 12) {
                case 0:
                    other.doc.commit();
                    packed.doc.commit();
                    plain.doc.commit();
                    ASSERT_TRUE(other.doc.import(packed.doc.changes_since(other.doc.version())));
                    edit(random, {&other});
                    break;
                case 1:
                    for (Desk* const desk : {&packed, &plain}) {
                        desk->doc.commit();
                        other.doc.commit();
                        ASSERT_TRUE(desk->doc.import(other.doc.changes_since(desk->doc.version())));
                    }
                    break;
                case 2: {
                    plain.doc.commit();
                    packed.doc.commit();
                    const Frontiers before = plain.doc.frontiers();
                    edit(random, {&packed, &plain});
                    for (Desk* const desk : {&packed, &plain}) {
                        desk->doc.commit();
                        ASSERT_TRUE(desk->doc.checkout(before));
                        if (desk == &packed) desk->doc.fit();
                    }
                    EXPECT_EQ(packed.doc.value(), plain.doc.value());
                    for (Desk* const desk : {&packed, &plain}) desk->doc.checkout_to_latest();
                    break;
                }
                default:
                    break;
            }
            if (random() % 2 == 0) {
                packed.doc.commit();
                plain.doc.commit();
                packed.doc.fit();
            }
            if (random() % 8 == 0) {
                EXPECT_EQ(packed.doc.value(), plain.doc.value());
            }
        }
        packed.doc.commit();
        plain.doc.commit();
        packed.doc.fit();
        EXPECT_EQ(packed.doc.version(), plain.doc.version());
        // All that a peer receives is the same, op by op.
        Doc from_packed(3);
        Doc from_plain(3);
        ASSERT_TRUE(from_packed.import(packed.doc.changes_since({})));
        ASSERT_TRUE(from_plain.import(plain.doc.changes_since({})));
        EXPECT_EQ(from_packed.value(), from_plain.value());
        const std::vector<Change> a = packed.doc.changes_since({}).changes();
        const std::vector<Change> b = plain.doc.changes_since({}).changes();
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].id, b[i].id);
            EXPECT_EQ(a[i].deps, b[i].deps);
            EXPECT_TRUE(same_atoms(a[i].ops, b[i].ops));
        }
        packed.doc.fit();
        check_invariants(packed.doc);
    }
}

TEST(Packing, ASmallContainerTakesHardlyMoreThanItsBytes) {
    constexpr std::size_t kMost = 1'000;
    Desk desk(1);
    std::size_t before = 0;
    for (std::size_t i = 0; i < kMost; ++i) {
        const Handle map = desk.add(i);
        for (const char* const key : {"role", "kind", "status", "author", "created_ms"})
            ASSERT_TRUE(desk.doc.map(map).set(key, "agent:ada"));
        ASSERT_TRUE(desk.doc.text(desk.text_of(map)).insert({0}, "hello"));
        desk.doc.commit();
        if (i == 0) before = desk.doc.memory_bytes();
    }
    EXPECT_GT(desk.doc.memory_bytes() / kMost, 1'000U);

    desk.doc.fit();

    EXPECT_LT((desk.doc.memory_bytes() - before) / kMost, 700U);
    EXPECT_EQ(desk.doc.text(desk.text_of(desk.maps().front())).rope().str(), "hello");
}

// Reading every container opens all of them; the next fit packs those again, and no others.
TEST(Packing, WhatWasLookedAtIsPackedAgain) {
    Desk desk(1);
    for (std::size_t i = 0; i < 100; ++i) {
        const Handle map = desk.add(i);
        ASSERT_TRUE(desk.doc.map(map).set("role", "user"));
        desk.doc.commit();
    }
    const Value all = desk.doc.value();  // Its first reader makes the containers of the texts.
    desk.doc.fit();
    const std::size_t packed = desk.doc.memory_bytes();
    EXPECT_EQ(desk.doc.value(), all);
    EXPECT_GT(desk.doc.memory_bytes(), packed + 100 * 200);

    desk.doc.fit_reopened();

    EXPECT_EQ(desk.doc.memory_bytes(), packed);
}

}  // namespace
}  // namespace quire::crdt
