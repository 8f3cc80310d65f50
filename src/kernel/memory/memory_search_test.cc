#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

void write_block(Study& study, const std::string& label, const std::string& text,
                 const std::string& by = "agent:ada") {
    ASSERT_TRUE(study.write(label, AppendContent{"", text}, by));
}

TEST(MemorySearch, FindsWhatBlocksSayNow) {
    Study study;
    ASSERT_TRUE(study.create("house", kText));
    write_block(study, "house", "The red house stands by the sea.");
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "red alert"));
    EXPECT_EQ(study.search("red"), "build house");
    EXPECT_EQ(study.search("\"red house\""), "house");
    EXPECT_EQ(study.search("red -alert"), "house");
    EXPECT_EQ(study.search("red label:build"), "build");
    EXPECT_EQ(study.search("green"), "");

    ASSERT_TRUE(study.set("build", "status", "green"));
    EXPECT_EQ(study.search("red"), "house");
    EXPECT_EQ(study.search("green"), "build");
    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(study.search("green"), "");
    study.restart();
    EXPECT_EQ(study.search("alert"), "build");
    ASSERT_TRUE(study.erase("house"));
    EXPECT_EQ(study.search("house"), "");
    ASSERT_TRUE(study.create("house", kText));
    EXPECT_EQ(study.search("house"), "house");
    EXPECT_EQ(study.search("sea"), "");
    EXPECT_EQ(study.search("!!"), "empty_query");
    EXPECT_EQ(study.search("-nowhere"), "");
}

TEST(MemorySearch, ShowsWhereItFoundIt) {
    Study study;
    ASSERT_TRUE(study.create("house", kText));
    write_block(study, "house", "first line\nthe red house\nlast line\n");

    const auto found = study.desk.ask<MemoryFound>([&](auto reply) {
        study.calls().search(Study::as("agent:ada"), {"red"}, std::move(reply));
    });

    ASSERT_EQ(found->hits.size(), 1U);
    const MemoryFound::Hit& hit = found->hits.front();
    EXPECT_EQ(hit.row.block.version, 2U);
    EXPECT_EQ(hit.row.type, MemoryType::working);
    EXPECT_GT(hit.score, 0);
    EXPECT_NE(hit.snippet.find("line the **red** house"), std::string::npos) << hit.snippet;
}

TEST(MemorySearch, FindsOnlyBlocksThatTheCallerMayRead) {
    Study study;
    ASSERT_TRUE(study.create("ada", kText));
    ASSERT_TRUE(study.create("bo", kText, policy::Permission::read_write, "agent:bo"));
    write_block(study, "ada", "the secret of ada");
    write_block(study, "bo", "the secret of bo", "agent:bo");
    EXPECT_EQ(study.search("secret", "agent:ada"), "ada");
    EXPECT_EQ(study.search("secret", "agent:bo"), "bo");
    EXPECT_EQ(study.search("secret", "agent:stranger"), "");
    EXPECT_EQ(study.search("secret", "agent:ad"), "");
    EXPECT_EQ(study.search("secret", "human:eve"), "bo ada");

    ASSERT_TRUE(study.share("ada", "agent:bo", policy::Permission::read_only));
    EXPECT_EQ(study.search("secret", "agent:bo"), "bo ada");
    ASSERT_TRUE(study.share("ada", "agent:bo", {}));
    EXPECT_EQ(study.search("secret", "agent:bo"), "bo");
    EXPECT_EQ(study.search("rall tworking"), "");
}

TEST(MemorySearch, FindsByTypeAndWhereABlockWasMovedTo) {
    Study study;
    ASSERT_TRUE(study.create("one", kText));
    ASSERT_TRUE(study.create("two", kText));
    write_block(study, "one", "same");
    write_block(study, "two", "same");
    ASSERT_TRUE(study.archive("two", "three"));

    EXPECT_EQ(study.search("same", "agent:ada", {MemoryType::archival}), "three");
    EXPECT_EQ(study.search("same", "agent:ada", {MemoryType::working, MemoryType::core}), "one");
    EXPECT_EQ(study.search("label:two"), "");
    ASSERT_TRUE(study.swap("one", "three"));
    write_block(study, "one", " changed");
    EXPECT_EQ(study.search("same", "agent:ada", {MemoryType::archival}), "three");
    EXPECT_EQ(study.search("changed"), "one");
    EXPECT_EQ(study.search("same", "agent:ada", {}, 1).find(' '), std::string::npos);
}

// The indexed text is stored with the change or refreshed before the search, so a kernel that is
// killed in between leaves no stale result.
TEST(MemorySearch, FindsThePresentTextAfterAKill) {
    Study study;
    ASSERT_TRUE(study.create("small", kText));
    ASSERT_TRUE(study.create("large", kText));
    write_block(study, "small", "a mouse");
    std::string text;
    while (text.size() < 40'000) text += "much ado about nothing\n";
    write_block(study, "large", text + "a whale");
    EXPECT_TRUE(study.desk.store.stale_texts("memory").value().size() == 1);
    study.crash();
    EXPECT_EQ(study.search("mouse"), "small");
    EXPECT_EQ(study.search("whale"), "large");
    EXPECT_TRUE(study.desk.store.stale_texts("memory").value().empty());

    write_block(study, "large", " and a squid");
    EXPECT_EQ(study.search("squid"), "large");
    ASSERT_TRUE(study.undo("large"));
    ASSERT_TRUE(study.archive("small", "little"));
    study.crash();
    EXPECT_EQ(study.search("squid"), "");
    EXPECT_EQ(study.search("mouse label:little"), "little");
    EXPECT_EQ(study.search("label:small"), "");
    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.write("little", AppendContent{"", " and a cat"})), "disk_full");
    EXPECT_EQ(study.search("cat"), "");
    EXPECT_EQ(study.search("mouse"), "little");
}

TEST(MemorySearch, ManyWritesInARowAreReadOnceForASearch) {
    Study study;
    const auto stale = [&] { return study.desk.store.stale_texts("memory")->size(); };
    ASSERT_TRUE(study.create("notes", kText));
    write_block(study, "notes", "one");
    EXPECT_EQ(stale(), 0U);
    write_block(study, "notes", " two");
    EXPECT_EQ(stale(), 1U);
    EXPECT_EQ(study.search("two"), "notes");
    EXPECT_EQ(stale(), 0U);
    write_block(study, "notes", " three");
    EXPECT_EQ(stale(), 1U);
    study.desk.clock.advance(1000);
    write_block(study, "notes", " four");
    EXPECT_EQ(stale(), 0U);
    write_block(study, "notes", " five");
    ASSERT_TRUE(study.share("notes", "agent:bo", policy::Permission::read_only));
    EXPECT_EQ(stale(), 0U);
    EXPECT_EQ(study.search("five", "agent:bo"), "notes");
}

TEST(MemorySearch, ABlockThatDoesNotParseHidesNoOther) {
    Study study;
    ASSERT_TRUE(study.create("good", kText));
    write_block(study, "good", "words");
    store::Batch batch;
    batch.documents = {
        {study.desk.store.reserve_document_key(), "memory", "bad", false, Bytes{'{'}}};
    study.desk.store.commit(std::move(batch), [](Result<void> stored) { ASSERT_TRUE(stored); });
    study.restart();

    EXPECT_EQ(study.search("words"), "good");
    EXPECT_EQ(study.search("bad"), "");
}

TEST(MemorySearch, AListLoadsNothing) {
    Study study;
    ASSERT_TRUE(study.create("one", kText));
    ASSERT_TRUE(study.create("two", kText));
    write_block(study, "two", "text");
    ASSERT_TRUE(study.erase("one"));
    ASSERT_TRUE(study.create("one", kText));
    study.restart();
    const std::size_t before = study.desk.store.loads();

    EXPECT_EQ(study.labels(), "one two ");

    EXPECT_EQ(study.desk.store.loads(), before);
    const auto list = study.desk.ask<MemoryList>([&](auto reply) {
        study.calls().list(Study::as("agent:ada"), MemoryListQuery{.prefix = "t"},
                           std::move(reply));
    });
    ASSERT_EQ(list->blocks.size(), 1U);
    EXPECT_EQ(list->blocks.front().block.version, 2U);
    EXPECT_EQ(study.view("two")->row.block.block_id, list->blocks.front().block.block_id);
    EXPECT_EQ(study.desk.store.loads(), before + 1);
    EXPECT_EQ(study.labels(), "one two ");
    EXPECT_EQ(study.labels("agent:bo"), "");
}

}  // namespace
}  // namespace quire::kernel
