// Readers of memory: who is told of a change, and in which form.
#include <gtest/gtest.h>

#include "codec/updates.h"
#include "crdt/doc/history.h"
#include "json/members.h"
#include "kernel/core/core.h"
#include "kernel/core/feed_calls.h"
#include "kernel/core/feed_reader_for_test.h"
#include "kernel/memory/carried.h"
#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

class ToldStudy : public Study {
public:
    std::string subscribe(const std::string& by, BlockWatch what = {}) {
        Result<std::string> id = desk.ask<std::string>([&](auto reply) {
            watch_blocks(desk.kernel->core(), as(by), std::move(what), nullptr, std::move(reply));
        });
        CHECK(id.has_value());
        return std::move(*id);
    }
    BlockHub::Events pull(const std::string& id, const std::string& by) {
        const auto pulled = desk.ask<BlockHub::Pulled>([&](auto reply) {
            block_events(desk.kernel->core(), as(by), id, 0, std::move(reply));
        });
        CHECK(pulled.has_value());
        return pulled->events;
    }
    Result<BlockSync> sync(const std::string& by, std::vector<BlockAtVersion> versions) {
        return desk.ask<BlockSync>([&](auto reply) {
            sync_blocks(desk.kernel->core(), as(by), std::move(versions), false, std::move(reply));
        });
    }
    std::string told(const std::string& id, const std::string& by) {
        std::string out;
        for (const auto& event : pull(id, by)) {
            cat_to(out, cat(event->label, " ", event->version, " ", name_of(event->type)));
            if (!event->section.empty()) cat_to(out, cat(" in ", event->section));
            if (!event->field.empty()) cat_to(out, cat(" of ", event->field));
            if (event->text) cat_to(out, cat(" '", *event->text, "'"));
            if (event->content) cat_to(out, cat(" '", *event->content, "'"));
            for (const auto& edit : event->edits.value_or(std::vector<edits::LineChange>()))
                cat_to(out, cat(" [", edit.start, ", ", edit.end, ") '", edit.content, "'"));
            out += "; ";
        }
        return out;
    }
};

TEST(MemoryFeed, AFieldIsToldAsLinesOfThePlainText) {
    ToldStudy study;
    const std::string feed = study.subscribe("agent:ada");

    static_cast<void>(study.create("ann"));
    static_cast<void>(study.set("ann", "status", "calm"));
    static_cast<void>(study.set("ann", "status", "busy"));

    EXPECT_EQ(study.told(feed, "agent:ada"),
              "ann 1 created 'visits: 0\n'; ann 2 replaced of status [0, 0) 'status: calm\n'; "
              "ann 3 replaced of status [0, 1) 'status: busy\n'; ");
}

TEST(MemoryFeed, ASectionIsNamed) {
    ToldStudy study;
    static_cast<void>(study.create("build", kBuild));
    const std::string feed = study.subscribe("agent:ada");

    static_cast<void>(study.write("build", AppendContent{"notes", "check\n"}));

    const auto events = study.pull(feed, "agent:ada");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0]->section, "notes");
    EXPECT_EQ(events[0]->owner, "agent:ada");
}

// An item that is an object is a container of its own below the list's.
TEST(MemoryFeed, AChangeInsideAnItemNamesItsPlace) {
    ToldStudy study;
    static_cast<void>(study.create("plan", R"({"Composite": {"sections": [
        {"name": "steps", "schema": {"List": {"item_schema": {"Map": {"fields": [
            {"name": "title", "field_type": "Text"}, {"name": "state", "field_type": "Text"}]}}}}},
        {"name": "notes", "schema": "Text"}]}})"));
    static_cast<void>(
        study.write("plan", AppendContent{"steps", Map{{"title", "one"}, {"state", "open"}}}));
    const std::string feed = study.subscribe("agent:ada");

    ASSERT_TRUE(study.write("plan", SetItem{{"steps", ""}, 0, "state", "done"}));

    const auto events = study.pull(feed, "agent:ada");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0]->section, "steps");
    EXPECT_EQ(events[0]->field, "");
}

TEST(MemoryFeed, ATextIsToldAsItGrows) {
    ToldStudy study;
    const auto made = study.create("log", kText);
    const std::string feed = study.subscribe("agent:ada");
    FeedReader reader;
    reader.take(*study.sync("agent:ada", {}));

    static_cast<void>(study.write("log", AppendContent{"", "one\n"}));
    static_cast<void>(study.write("log", AppendContent{"", "two\n"}));
    static_cast<void>(study.undo("log"));
    for (const auto& event : study.pull(feed, "agent:ada")) reader.take(*event);

    EXPECT_EQ(reader.copies[made->block_id].text, study.desk
                                                      .ask<WholeText>([&](auto reply) {
                                                          study.desk.kernel->text(
                                                              Study::as("agent:ada"),
                                                              made->block_id, std::move(reply));
                                                      })
                                                      ->text);
    EXPECT_EQ(reader.copies[made->block_id].version, study.version("log"));
}

TEST(MemoryFeed, WhatIsKnownBesideTheTextIsMetadata) {
    ToldStudy study;
    static_cast<void>(study.create("ann"));
    const std::string feed = study.subscribe("agent:ada");

    static_cast<void>(study.archive("ann", "old"));
    static_cast<void>(study.erase("old"));

    const auto events = study.pull(feed, "agent:ada");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0]->type, BlockEventType::metadata);
    EXPECT_EQ(events[0]->label, "old");
    EXPECT_EQ(json::text_in(Value(*events[0]->metadata), "type"), "archival");
    EXPECT_EQ(events[1]->type, BlockEventType::deleted);
}

TEST(MemoryFeed, ARenamedBlockIsToldWithTheLabelItHad) {
    ToldStudy study;
    static_cast<void>(study.create("near"));
    const std::string feed = study.subscribe("agent:ada");

    static_cast<void>(study.desk.ask<MemoryVersion>([&](auto reply) {
        study.calls().rename(Study::as("agent:ada"), "near", "done", std::move(reply));
    }));
    static_cast<void>(study.set("done", "status", "calm"));

    const auto events = study.pull(feed, "agent:ada");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0]->type, BlockEventType::metadata);
    EXPECT_EQ(events[0]->label, "done");
    EXPECT_EQ(events[0]->label_before, "near");
    EXPECT_EQ(events[1]->label, "done");
    EXPECT_EQ(events[1]->label_before, "");
}

CarriedBlock carried(ToldStudy& study, const std::string& label) {
    auto block = study.desk.ask<CarriedBlock>([&](auto reply) {
        study.calls().export_block(Study::as("human:tom"), label, std::move(reply));
    });
    CHECK(block.has_value());
    return std::move(*block);
}

// Nobody can have looked at a block before its import is stored, and yet its readers hear of it.
TEST(MemoryFeed, AnImportedBlockIsToldAsCreatedAndWhatFollowsAsUsual) {
    ToldStudy there;
    static_cast<void>(there.create("ann"));
    static_cast<void>(there.set("ann", "status", "calm"));
    static_cast<void>(there.create("secret", kText));
    ToldStudy study;
    const std::string own = study.subscribe("agent:ada");
    const std::string others = study.subscribe("agent:bob");
    FeedReader reader;

    const auto imported = study.desk.ask<MemoryImported>([&](auto reply) {
        study.calls().import_blocks(Study::as("human:tom"),
                                    MemoryImport{{carried(there, "ann"), carried(there, "secret")}},
                                    std::move(reply));
    });
    ASSERT_TRUE(imported.has_value());
    static_cast<void>(study.set("ann", "status", "busy"));

    const auto events = study.pull(own, "agent:ada");
    std::map<std::string, std::string> told;
    for (const auto& event : events) {
        reader.take(*event);
        cat_to(told[event->label],
               cat(name_of(event->type), " ", event->version, " by ", event->actor, "; "));
    }
    const std::uint64_t version = study.version("ann");
    EXPECT_EQ(told["ann"],
              cat("created ", version - 1, " by human:tom; replaced ", version, " by agent:ada; "));
    EXPECT_EQ(told["secret"], cat("created ", study.version("secret"), " by human:tom; "));
    EXPECT_EQ(reader.copies[imported->blocks[0].block.block_id].text, "status: busy\nvisits: 0\n");
    EXPECT_EQ(study.told(others, "agent:bob"), "");
}

TEST(MemoryFeed, TheOperationsOfAnImportedBlockLeadToWhatItSays) {
    ToldStudy there;
    static_cast<void>(there.create("log", kText));
    static_cast<void>(there.write("log", AppendContent{"", "one\n"}));
    ToldStudy study;
    const std::string feed = study.subscribe("agent:ada", {.wants_updates = true});

    static_cast<void>(study.desk.ask<MemoryImported>([&](auto reply) {
        study.calls().import_blocks(Study::as("human:tom"), MemoryImport{{carried(there, "log")}},
                                    std::move(reply));
    }));

    const auto events = study.pull(feed, "agent:ada");
    ASSERT_EQ(events.size(), 1U);
    ASSERT_TRUE(events[0]->updates.has_value());
    crdt::Doc copy(7);
    ASSERT_TRUE(copy.import(codec::decode_updates(*events[0]->updates)->changes()).has_value());
    EXPECT_EQ(copy.history().op_count(), 4U);
}

TEST(MemoryFeed, PrivateMemoryIsToldToItsOwnerAlone) {
    ToldStudy study;
    const std::string own = study.subscribe("agent:ada");
    const std::string others = study.subscribe("agent:bob");

    const auto made = study.create("secret");
    static_cast<void>(study.set("secret", "status", "calm"));

    EXPECT_EQ(study.pull(own, "agent:ada").size(), 2U);
    EXPECT_EQ(study.told(others, "agent:bob"), "");
    EXPECT_EQ(reason(study.sync("agent:bob", {{made->block_id, 0}})), "invalid_reference");
    EXPECT_TRUE(study.sync("agent:bob", {})->new_blocks.empty());
    const auto refused = study.desk.ask<std::string>([&](auto reply) {
        watch_blocks(study.desk.kernel->core(), Study::as("agent:bob"),
                     {.block_ids = std::vector{made->block_id}}, nullptr, std::move(reply));
    });
    EXPECT_EQ(reason(refused), "invalid_reference");
}

TEST(MemoryFeed, SharingAndItsEndTakeEffectAtOnce) {
    ToldStudy study;
    const std::string feed = study.subscribe("agent:bob");
    static_cast<void>(study.create("plan"));
    static_cast<void>(study.set("plan", "status", "private"));
    EXPECT_EQ(study.told(feed, "agent:bob"), "");

    static_cast<void>(study.share("plan", "agent:bob", Permission::read_only));
    static_cast<void>(study.set("plan", "status", "shared"));
    EXPECT_EQ(study.told(feed, "agent:bob"),
              "plan 3 metadata; plan 4 replaced of status [0, 1) 'status: shared\n'; ");

    static_cast<void>(study.share("plan", "agent:bob", std::nullopt));
    static_cast<void>(study.set("plan", "status", "private again"));
    EXPECT_EQ(study.told(feed, "agent:bob"), "");
}

TEST(MemoryFeed, TheHistoryOfABlockIsReplayedAsItWas) {
    ToldStudy study;
    const auto made = study.create("ann");
    static_cast<void>(study.set("ann", "status", "calm"));
    static_cast<void>(study.set("ann", "status", "busy"));

    const std::string feed = study.subscribe("agent:ada", {.from_versions = {{made->block_id, 1}}});

    EXPECT_EQ(study.told(feed, "agent:ada"),
              "ann 2 replaced of status [0, 0) 'status: calm\n'; "
              "ann 3 replaced of status [0, 1) 'status: busy\n'; ");
}

TEST(MemoryFeed, BothBlocksOfASwapAreTold) {
    ToldStudy study;
    static_cast<void>(study.create("now"));
    static_cast<void>(
        study.create("then", kStatus, Permission::read_write, "agent:ada", MemoryType::archival));
    const std::string feed = study.subscribe("agent:ada");

    static_cast<void>(study.swap("now", "then"));

    EXPECT_EQ(study.pull(feed, "agent:ada").size(), 2U);
}

}  // namespace
}  // namespace quire::kernel
