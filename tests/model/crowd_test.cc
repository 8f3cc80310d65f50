// Crowds: many peers who write at the same few places at once, and a relay that takes in what each wrote on
// its own. The relay's order of siblings is compared with the naive model's.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/check.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "json/json.h"
#include "tests/model/model.h"

namespace quire {
namespace {

using namespace crdt;

const ContainerId kText = ContainerId::root("text", ContainerKind::text);
const ContainerId kList = ContainerId::root("list", ContainerKind::list);

class Crowd {
public:
    explicit Crowd(std::uint64_t seed) : random_(seed) {
        Doc base(1);
        CHECK(base.text(base.open(kText)).insert({0}, "0123456789"));
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(base.list(base.open(kList)).insert(i, static_cast<std::int64_t>(i)));
        base.commit();
        changes_ = base.changes_since({}).changes();
        const std::size_t peers = 10 + below(30);
        std::set<PeerId> ids;
        while (ids.size() < peers) ids.insert(2 + below(1000));
        std::vector<PeerId> shuffled(ids.begin(), ids.end());
        std::shuffle(shuffled.begin(), shuffled.end(), random_);
        for (const PeerId peer : shuffled) {
            docs_.push_back(std::make_unique<Doc>(peer));
            CHECK(docs_.back()->import(changes_));
        }
    }

    // A few letters at one of few places, and an element of the list; sometimes after what another one has.
    void write() {
        Doc& doc = *docs_[below(docs_.size())];
        if (below(5) == 0) CHECK(doc.import(docs_[below(docs_.size())]->changes_since({})));
        const Handle text = doc.open(kText);
        const std::size_t size = doc.text(text).rope().code_points().n;
        const std::size_t places[] = {0, std::min<std::size_t>(5, size), size};
        const std::size_t at = places[below(3)];
        if (below(6) == 0 && at < size) CHECK(doc.text(text).erase({at}, {1}));
        const auto letter = static_cast<char>('a' + below(26));
        CHECK(doc.text(text).insert({at}, std::string(1 + below(2), letter)));
        const Handle list = doc.open(kList);
        const auto number = static_cast<std::int64_t>(below(1000));
        CHECK(doc.list(list).insert(std::min<std::size_t>(2, doc.list(list).size()), number));
        const IdSpan span = doc.commit().span;
        for (const Change& change : doc.changes_in(std::vector{span}).changes())
            changes_.push_back(change);
    }

    // Takes in every change on its own, in an order that keeps causes first.
    void meet(bool looks) {
        Doc relay(5000);
        for (const Change& change : changes_) {
            CHECK(relay.import({change}));
            if (looks && below(8) == 0) crdt::check_invariants(relay);
        }
        crdt::check_invariants(relay);
        const Value expected = model::replay(changes_);
        ASSERT_TRUE(relay.value() == expected) << json::write(relay.value()) << "\n"
                                               << json::write(expected);
    }

private:
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Doc>> docs_;
    std::vector<Change> changes_;
};

TEST(Crowd, ManyPeersAtOnePlaceAreOrderedAsInTheModel) {
    const char* given = std::getenv("QUIRE_STEPS");
    const std::uint64_t count = given != nullptr ? std::strtoull(given, nullptr, 10) : 40;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        SCOPED_TRACE(seed);
        Crowd crowd(seed);
        for (int i = 0; i < 80; ++i) crowd.write();
        crowd.meet(seed % 4 == 0);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

// A failed import takes back which heads it replaced.
TEST(Crowd, AFailedImportLeavesTheHeads) {
    Doc doc(1);
    CHECK(doc.text(doc.open(kText)).insert({0}, "abc"));
    doc.commit();
    std::vector<Change> heads;
    for (const PeerId peer : {5, 3, 4}) {
        Doc other(peer);
        CHECK(other.import(doc.changes_since({})));
        CHECK(other.text(other.open(kText)).insert({1}, "x"));
        heads.push_back(other.changes_in(std::vector{other.commit().span}).changes().at(0));
    }
    for (const Change& head : heads) CHECK(doc.import({head}));
    const Frontiers before = doc.frontiers();

    // The second change is at a place that does not exist.
    Doc writer(9);
    CHECK(writer.import(doc.changes_since({})));
    CHECK(writer.text(writer.open(kText)).insert({2}, "y"));
    Change good = writer.changes_in(std::vector{writer.commit().span}).changes().at(0);
    const Change bad{{8, 0}, {heads[1].id}, 0, 0, "", {{kText, 0, TextInsert{1000, "z"}}}};
    EXPECT_FALSE(doc.import({good, bad}).has_value());

    EXPECT_EQ(doc.frontiers(), before);
    check_invariants(doc);
    EXPECT_TRUE(doc.import({good}).has_value());
    check_invariants(doc);
    EXPECT_EQ(doc.frontiers().size(), 1U);
}

}  // namespace
}  // namespace quire
