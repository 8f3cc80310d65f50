// Subscriptions to blocks of conversations, and what a caller lacks who had none.
#include "kernel/core/block_feed.h"

#include <random>

#include <gtest/gtest.h>

#include "codec/updates.h"
#include "conversation/conversation.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/core.h"
#include "kernel/core/desk_test.h"
#include "kernel/core/feed_calls.h"
#include "kernel/core/feed_reader_for_test.h"

namespace quire::kernel {
namespace {

class Newsdesk : public Desk {
public:
    std::string subscribe(const std::string& by = "reader", BlockWatch what = {}) {
        Result<std::string> id = ask<std::string>([&](auto reply) {
            watch_blocks(kernel->core(), as(by), std::move(what), nullptr, std::move(reply));
        });
        CHECK(id.has_value());
        return std::move(*id);
    }
    BlockHub::Pulled pull(const std::string& id, const std::string& by = "reader") {
        const auto pulled = ask<BlockHub::Pulled>(
            [&](auto reply) { block_events(kernel->core(), as(by), id, 0, std::move(reply)); });
        CHECK(pulled.has_value());
        return *pulled;
    }
    BlockSync sync(std::vector<BlockAtVersion> versions, bool updates = false) {
        Result<BlockSync> sync = ask<BlockSync>([&](auto reply) {
            sync_blocks(kernel->core(), as("reader"), std::move(versions), updates,
                        std::move(reply));
        });
        CHECK(sync.has_value());
        return std::move(*sync);
    }
    // The events of a pull in words: "created 1 'one'", "replaced 3 [0, 1) 'x\n'".
    std::string told(const std::string& id) {
        std::string out;
        for (const auto& event : pull(id).events) out += words(*event);
        return out;
    }
    static std::string words(const BlockEvent& event) {
        std::string out = cat(name_of(event.type), " ", event.version);
        if (event.text) cat_to(out, cat(" '", *event.text, "'"));
        if (event.content) cat_to(out, cat(" '", *event.content, "'"));
        if (event.status) cat_to(out, cat(" ", *event.status));
        for (const auto& edit : event.edits.value_or(std::vector<edits::LineChange>()))
            cat_to(out, cat(" [", edit.start, ", ", edit.end, ") '", edit.content, "'"));
        return out + "; ";
    }
};

TEST(BlockFeed, EachVersionIsOneEventOfItsKind) {
    Newsdesk desk;
    const std::string feed = desk.subscribe();

    const std::string id = desk.create("one\n");
    desk.append(id, "two\n");
    desk.splice(id, 0, 3, "ONE", "bob");
    desk.splice(id, 8, 0, "three\n", "bob");
    static_cast<void>(desk.set_status(id, conversation::Status::done));
    desk.undo(id, "bob");
    desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->erase(Desk::as("ada"), id, std::move(reply)); });
    desk.undo(id, "ada");

    EXPECT_EQ(desk.told(feed),
              "created 1 'one\n'; appended 2 'two\n'; replaced 3 [0, 1) 'ONE\n'; "
              "appended 4 'three\n'; status 5 done; replaced 6 [2, 3) ''; deleted 7; "
              "created 8 'ONE\ntwo\n'; ");
}

TEST(BlockFeed, AnEventNamesItsActorAndItsBlock) {
    Newsdesk desk;
    const std::string feed = desk.subscribe();
    const std::string parent = desk.create("question", "ada");
    const std::string id = desk.create("answer", "bob", parent);

    const auto events = desk.pull(feed).events;

    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1]->block_id, id);
    EXPECT_EQ(events[1]->actor, "agent:bob");
    EXPECT_EQ(events[1]->block->parent_id, parent);
    EXPECT_EQ(events[1]->block->status, "pending");
    EXPECT_EQ(events[1]->version_before, 0U);
}

TEST(BlockFeed, AFlushOfSeveralAppendsIsOneEventWithTheLastVersion) {
    Newsdesk desk;
    const std::string id = desk.create("");
    const std::string feed = desk.subscribe();

    desk.append(id, "a ", "ada", Ack::accepted);
    desk.append(id, "b ", "ada", Ack::accepted);
    desk.append(id, "c\n", "ada", Ack::accepted);

    EXPECT_EQ(desk.told(feed), "appended 4 'a b c\n'; ");
}

TEST(BlockFeed, ASubscriptionOfSomeBlocksIsToldOfNoOthers) {
    Newsdesk desk;
    const std::string one = desk.create("one");
    const std::string two = desk.create("two");
    const std::string feed = desk.subscribe("reader", {.block_ids = std::vector{two}});

    desk.append(one, "!");
    desk.append(two, "?");

    EXPECT_EQ(desk.told(feed), "appended 2 '?'; ");
}

TEST(BlockFeed, WhatCameAfterAVersionComesFirst) {
    Newsdesk desk;
    const std::string id = desk.create("one\n");
    desk.append(id, "two\n");
    desk.splice(id, 0, 3, "ONE");
    static_cast<void>(desk.set_status(id, conversation::Status::done));
    const std::string feed =
        desk.subscribe("reader", {.block_ids = std::vector{id}, .from_versions = {{id, 1}}});

    desk.append(id, "three\n");

    EXPECT_EQ(desk.told(feed),
              "appended 2 'two\n'; replaced 3 [0, 1) 'ONE\n'; status 4 done; "
              "appended 5 'three\n'; ");
}

TEST(BlockFeed, FromVersionZeroABlockIsToldFromItsCreation) {
    Newsdesk desk;
    const std::string other = desk.create("other\n");
    const std::string id = desk.create("one\n");
    desk.append(id, "two\n");

    const std::string feed = desk.subscribe("reader", {.from_versions = {{id, 0}}});
    const auto events = desk.pull(feed).events;

    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(desk.words(*events[0]), "created 1 'one\n'; ");
    EXPECT_EQ(events[0]->block->status, "pending");
    EXPECT_EQ(desk.words(*events[1]), "appended 2 'two\n'; ");
}

TEST(BlockFeed, AVersionWithinAFlushIsAnsweredByTheWholeBlock) {
    Newsdesk desk;
    const std::string id = desk.create("");
    desk.append(id, "a ", "ada", Ack::accepted);
    desk.append(id, "b\n", "ada", Ack::accepted);

    const BlockSync sync = desk.sync({{id, 2}});

    ASSERT_EQ(sync.patches.size(), 1U);
    EXPECT_EQ(desk.words(sync.patches[0]), "created 3 'a b\n'; ");
    EXPECT_TRUE(desk.sync({{id, 3}}).patches.empty());
}

TEST(BlockFeed, OnlyItsOwnerPullsASubscription) {
    Newsdesk desk;
    const std::string feed = desk.subscribe("ada");

    const auto refused = desk.ask<BlockHub::Pulled>([&](auto reply) {
        block_events(desk.kernel->core(), Desk::as("bob"), feed, 0, std::move(reply));
    });

    EXPECT_EQ(refused.error().reason(), "invalid_reference");
}

TEST(BlockFeed, AnUnknownBlockIsRefusedAndNothingIsOpened) {
    Newsdesk desk;

    const auto refused = desk.ask<std::string>([&](auto reply) {
        watch_blocks(desk.kernel->core(), Desk::as("ada"),
                     {.block_ids = std::vector<std::string>{"b99_0_0"}}, nullptr, std::move(reply));
    });

    EXPECT_EQ(refused.error().reason(), "invalid_reference");
    EXPECT_FALSE(desk.kernel->core()->feed().is_watched(99));
}

TEST(BlockFeed, ASubscriptionEndsWithItsSessionAndNothingIsCapturedAnyMore) {
    Newsdesk desk;
    const std::string id = desk.create("one");
    auto session = std::make_shared<const Notify>([](std::string_view, Map) {});
    Caller by = Desk::as("reader");
    by.notify = session;
    std::size_t pushed = 0;
    const auto push = [&](const std::string&, const BlockHub::Events& events) {
        pushed += events.size();
    };
    static_cast<void>(desk.ask<std::string>(
        [&](auto reply) { watch_blocks(desk.kernel->core(), by, {}, push, std::move(reply)); }));
    desk.append(id, "!");
    EXPECT_EQ(pushed, 1U);
    EXPECT_TRUE(desk.kernel->core()->feed().is_watched(1));
    by.notify.reset();
    session.reset();

    desk.append(id, "?");

    EXPECT_EQ(pushed, 1U);
    EXPECT_FALSE(desk.kernel->core()->feed().is_watched(1));
}

TEST(BlockFeed, AChangeThatTheStoreRefusesIsNotTold) {
    Newsdesk desk;
    const std::string id = desk.create("one");
    const std::string feed = desk.subscribe();
    desk.store.fail_next();

    EXPECT_FALSE(desk.append(id, " two"));
    EXPECT_EQ(desk.told(feed), "");
    EXPECT_TRUE(desk.append(id, " three"));

    EXPECT_EQ(desk.told(feed), "appended 2 ' three'; ");
}

TEST(BlockFeed, AnEventComesNoEarlierThanItsVersionIsDurable) {
    Newsdesk desk;
    const std::string id = desk.create("one");
    const std::string feed = desk.subscribe();
    desk.store.hold(true);
    const auto answer = desk.start_call<Appended>([&](auto reply) {
        desk.kernel->append(Desk::as("ada"), id, "!", Ack::durable, std::move(reply));
    });

    EXPECT_EQ(desk.told(feed), "");
    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();

    EXPECT_EQ(desk.told(feed), "appended 2 '!'; ");
}

TEST(BlockFeed, ASlowReaderLosesTheOldestAndLearnsFromWhere) {
    Newsdesk desk;
    const std::string id = desk.create("");
    const std::string slow = desk.subscribe("reader");
    const std::string quick = desk.subscribe("reader");
    FeedReader reader, other;
    reader.copies[id] = other.copies[id] = {1, "", "pending", false};
    for (int i = 0; i < 1500; ++i) {
        ASSERT_TRUE(desk.append(id, cat("line ", i, "\n")));
        if (i % 100 == 0) other.take(desk.pull(quick));
    }
    const auto rest = desk.pull(quick);
    EXPECT_TRUE(rest.lagged.empty());
    other.take(rest);
    EXPECT_EQ(other.copies[id].text, desk.sync({{id, 0}}).patches.back().content);

    const auto pulled = desk.pull(slow);
    EXPECT_EQ(pulled.events.size(), 1000U);
    ASSERT_EQ(pulled.lagged, (LagOf<BlockEvent>::Told{{id, 1}}));
    reader.take(desk.sync({{id, pulled.lagged.at(id)}}));
    reader.take(pulled);

    EXPECT_EQ(reader.copies[id].version, 1501U);
    EXPECT_EQ(reader.copies[id].text, other.copies[id].text);
}

TEST(BlockSync, GivesTheSameWheneverItIsAskedAndInWhateverOrder) {
    Newsdesk desk;
    const std::string one = desk.create("one\n");
    const std::string two = desk.create("two\n");
    desk.append(one, "!\n");
    desk.append(two, "?\n");
    const std::string three = desk.create("three\n");
    const auto in_words = [&](const BlockSync& sync) {
        std::string out;
        for (const BlockEvent& event : sync.patches)
            out += cat(event.block_id, " ", desk.words(event));
        for (const BlockEvent& event : sync.new_blocks)
            out += cat("new ", event.block_id, " ", desk.words(event));
        return out;
    };

    const std::string first = in_words(desk.sync({{one, 1}, {two, 1}}));

    EXPECT_EQ(first, cat(one, " appended 2 '!\n'; ", two, " appended 2 '?\n'; new ", three,
                         " created 1 'three\n'; "));
    EXPECT_EQ(in_words(desk.sync({{two, 1}, {one, 1}})), first);
    EXPECT_EQ(in_words(desk.sync({{one, 1}, {two, 1}, {one, 1}})), first);
    EXPECT_EQ(in_words(desk.sync({{one, 2}, {two, 2}, {three, 1}})), "");
}

TEST(BlockSync, WithoutVersionsItGivesAllThatTheCallerMaySee) {
    Newsdesk desk;
    const std::string one = desk.create("one\n");
    desk.create("two\n");

    const BlockSync sync = desk.sync({});

    ASSERT_EQ(sync.new_blocks.size(), 2U);
    EXPECT_EQ(sync.new_blocks[0].block_id, one);
    EXPECT_EQ(sync.new_blocks[0].content, "one\n");
}

TEST(BlockSync, WhatDoesNotFitIsInTheNextAnswer) {
    Newsdesk desk;
    for (int i = 0; i < 5; ++i) desk.create(std::string(400'000, static_cast<char>('a' + i)));
    FeedReader reader;

    std::size_t rounds = 0;
    for (bool more = true; more; ++rounds) {
        const BlockSync sync = desk.sync(reader.versions());
        reader.take(sync);
        more = sync.has_more;
    }

    EXPECT_GT(rounds, 1U);
    EXPECT_EQ(reader.copies.size(), 5U);
}

// A replica of a conversation, kept by Loro updates alone.
struct Replica {
    crdt::Doc doc{77};
    void take(const BlockEvent& event) {
        if (!event.updates || event.updates->empty()) return;
        auto batch = codec::decode_updates(*event.updates);
        ASSERT_TRUE(batch.has_value());
        ASSERT_TRUE(doc.import(std::move(*batch)).has_value());
        EXPECT_TRUE(doc.history().waiting().empty());
    }
    std::string text(std::size_t block) {
        const conversation::Conversation all(doc);
        return doc.text(all.at(block).content).rope().str();
    }
};

TEST(BlockFeed, UpdatesMakeAReplicaOfTheDocument) {
    Newsdesk desk;
    const std::string one = desk.create("one\n");
    const std::string two = desk.create("two\n", "bob");
    Replica replica;
    for (const BlockEvent& event : desk.sync({}, true).new_blocks) replica.take(event);
    const std::string feed =
        desk.subscribe("reader", {.block_ids = std::vector{one}, .wants_updates = true});

    desk.append(two, "of bob\n", "bob");
    desk.append(one, "of ada\n");
    desk.splice(one, 0, 3, "ONE", "bob");
    for (const auto& event : desk.pull(feed).events) replica.take(*event);

    EXPECT_EQ(replica.text(0), "ONE\nof ada\n");
    EXPECT_EQ(replica.text(1), "two\nof bob\n");
}

TEST(BlockSync, UpdatesBeginAtTheVersionThatIsKnown) {
    Newsdesk desk;
    const std::string one = desk.create("one\n");
    Replica replica;
    for (const BlockEvent& event : desk.sync({}, true).new_blocks) replica.take(event);
    desk.append(one, "two\n");
    desk.splice(one, 0, 3, "ONE", "bob");

    for (const BlockEvent& event : desk.sync({{one, 1}}, true).patches) replica.take(event);

    EXPECT_EQ(replica.text(0), "ONE\ntwo\n");
}

// Several writers, who change several blocks in every way there is. A reader that pulls now and then,
// and one that catches up instead, hold what the blocks are, at each version that they have.
class Newsroom {
public:
    explicit Newsroom(unsigned seed) : random_(seed) {
        ids_.push_back(desk_.create("first\nblock\n"));
        feed_ = desk_.subscribe();
        late_.take(desk_.sync({}));
        reader_.take(desk_.sync({}));
    }

    void step(int number) {
        const char* const names[] = {"ada", "bob", "eve"};
        const std::string by = names[below(3)];
        change(ids_[below(ids_.size())], by, number);
        for (const std::string& each : ids_) {
            if (const auto read = desk_.read(each))
                texts_[{each, read->info.version}] = desk_.text(each);
        }
        if (below(3) == 0) late_.take(desk_.sync(late_.versions()));
        if (below(3) == 0) reader_.take(desk_.pull(feed_));
    }
    // Each copy is the text that its block had at that version.
    void check_copies() {
        for (const FeedReader* const each : {&reader_, &late_}) {
            for (const auto& [block, copy] : each->copies) {
                const auto at = texts_.find({block, copy.version});
                const bool is_right = at == texts_.end() || copy.text == at->second;
                ASSERT_TRUE(is_right) << block << " at " << copy.version;
            }
        }
    }
    // After a last look both readers hold the blocks that there are.
    void check_end() {
        late_.take(desk_.sync(late_.versions()));
        reader_.take(desk_.pull(feed_));
        for (const std::string& each : ids_) {
            const auto read = desk_.read(each);
            // A block that came and went between two looks is unknown.
            for (FeedReader* const of : {&reader_, &late_}) {
                const bool is_there = of->copies.contains(each) && !of->copies[each].is_deleted;
                EXPECT_EQ(is_there, read.has_value()) << each;
            }
            if (!read) continue;
            EXPECT_EQ(late_.copies[each].version, read->info.version);
            EXPECT_EQ(reader_.copies[each].version, read->info.version);
            EXPECT_EQ(reader_.copies[each].text, desk_.text(each));
        }
    }

private:
    std::size_t below(std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
    }
    void change(const std::string& id, const std::string& by, int number) {
        switch (below(9)) {
            case 0:
                if (ids_.size() < 6) ids_.push_back(desk_.create(cat("new\n", number, "\n"), by));
                break;
            case 1:
                static_cast<void>(desk_.append(id, cat("to ", number, "\n"), by));
                break;
            case 2:
                static_cast<void>(desk_.append(id, cat(number, " "), by, Ack::accepted));
                break;
            case 3: {
                const std::size_t size = desk_.text(id).size();
                const std::size_t at = below(size + 1);
                static_cast<void>(desk_.splice(id, at,
                                               below(std::min<std::size_t>(size - at, 9) + 1),
                                               below(2) == 0 ? "x\ny" : "z", by));
                break;
            }
            case 4:
                static_cast<void>(desk_.undo(id, by, below(2) == 0));
                break;
            case 5:
                static_cast<void>(desk_.undo(id, by, false, UndoScope::any));
                break;
            case 6:
                static_cast<void>(desk_.set_status(id, below(2) == 0
                                                           ? conversation::Status::done
                                                           : conversation::Status::running));
                break;
            case 7:
                if (below(8) != 0) break;
                desk_.restart();
                feed_ = desk_.subscribe("reader", {.from_versions = reader_.versions()});
                reader_.take(desk_.sync(reader_.versions()));
                break;
            default:
                desk_.advance(60);
        }
    }

    std::mt19937 random_;
    Newsdesk desk_;
    std::vector<std::string> ids_;
    std::string feed_;
    FeedReader reader_, late_;
    std::map<std::pair<std::string, std::uint64_t>, std::string> texts_;
};

TEST(BlockFeed, RandomReadersHoldTheBlocksAtEveryVersion) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    Newsroom room(seed);
    for (int step = 0; step < 600; ++step) {
        room.step(step);
        room.check_copies();
        if (HasFatalFailure()) FAIL() << "step " << step;
    }
    room.check_end();
}

}  // namespace
}  // namespace quire::kernel
