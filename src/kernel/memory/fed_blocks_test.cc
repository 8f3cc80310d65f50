// Blocks that a source feeds: whoever sets their config, by whichever call, the source is asked.
#include "kernel/memory/fed_blocks.h"

#include <functional>

#include <gtest/gtest.h>

#include "kernel/core/sources.h"
#include "kernel/memory/fed_source.h"
#include "kernel/memory/memory_study_test.h"
#include "memory/feed.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

// A source that counts: `level` of its config is applied below 10, pending up to 100 and rejected
// beyond; `tags` may not hold "bad". It says what level it follows, and how often it was read.
class Gauge final : public memory::Feed {
public:
    Gauge() {
        block_.label = "gauge";
        block_.description = "what the gauge says";
        block_.schema = memory::parse_schema(json::parse(R"({"Composite": {"sections": [
            {"name": "reading", "read_only": true, "schema": {"Map": {"fields": [
                {"name": "level", "field_type": "Number"},
                {"name": "found", "field_type": "List"}]}}},
            {"name": "config", "schema": {"Map": {"fields": [
                {"name": "level", "field_type": "Number", "default": 1},
                {"name": "visits", "field_type": "Counter"},
                {"name": "tags", "field_type": "List"}]}}}]}})")
                                                 .value())
                            .value();
    }
    const std::string& name() const override { return name_; }
    const memory::MemoryBlock& block() const override { return block_; }
    memory::ConfigAnswer judge(const Value& config) override {
        using Kind = memory::ConfigAnswer::Kind;
        asked.push_back(json::write(config));
        const Value* tags = config.get("tags");
        if (tags != nullptr && *tags == Value(List{"bad"}))
            return {Kind::rejected, "config.tags cannot be bad", "tags", *tags, "other words"};
        const std::int64_t level = config.get("level")->as_int();
        if (level > 100)
            return {Kind::rejected, "config.level is too high", "level", level, "100 at most"};
        return {level < 10 ? Kind::applied : Kind::pending, "it is seen to"};
    }
    Value feed(const Value& config) override {
        return Map{{"reading", Map{{"level", *config.get("level")}, {"found", found}}}};
    }
    void attend(const Value& config) override { attended.push_back(json::write(config)); }
    void run(const Value&) override { ++runs; }
    void start(std::function<void()> changed) override { tell = std::move(changed); }
    void stop() override { tell = nullptr; }
    State state() const override { return {false, false, "it counts"}; }

    std::vector<std::string> asked;
    std::vector<std::string> attended;
    List found;
    int runs = 0;
    std::function<void()> tell;

private:
    const std::string name_ = "gauge";
    memory::MemoryBlock block_;
};

class Fed {
public:
    Fed() { warnings = start(); }
    std::vector<std::string> start() {
        return desk()
            .ask<std::vector<std::string>>([&](auto reply) { sources.start(std::move(reply)); })
            .value();
    }
    Desk& desk() { return study.desk; }
    Result<MemoryWritten> set(Value level, const std::string& by = "agent:ada") {
        return study.write("gauge", SetField{{"config", "level"}, std::move(level)}, by);
    }
    std::string read() { return study.value("gauge"); }
    std::string level() {
        const auto seen = study.view("gauge", "source:gauge");
        return cat(json::write(*seen->value.get("config")->get("level")), "/",
                   json::write(*seen->value.get("reading")->get("level")));
    }

    Gauge gauge;
    Study study{{&gauge}};
    std::vector<std::unique_ptr<FedSource>> fed = FedSource::all_of(study.calls());
    Sources sources{{fed.front().get()}};
    std::vector<std::string> warnings;
};

// "applied", "pending"; "" where nobody was asked.
std::string answer(const MemoryVersion& block) {
    return block.source ? block.source->answer : "";
}

TEST(FedBlocks, ItsBlockIsThereFromTheStartAndForEveryAgent) {
    Fed fed;
    EXPECT_TRUE(fed.warnings.empty());
    const auto seen = fed.study.view("gauge", "agent:eve");
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->row.owner.str(), "source:gauge");
    EXPECT_EQ(json::write(seen->value),
              R"({"reading":{"level":1,"found":[]},"config":{"level":1,"visits":0}})");
    EXPECT_EQ(fed.gauge.attended.size(), 1U);
}

TEST(FedBlocks, OnlyTheSourceWritesTheFieldsThatItFeeds) {
    Fed fed;
    EXPECT_EQ(reason(fed.study.write("gauge", SetField{{"reading", "level"}, 2})),
              "read_only_section");
    EXPECT_EQ(reason(fed.study.write("gauge", SetField{{"reading", "level"}, 2}, "human:tom")),
              "read_only_section");
    EXPECT_TRUE(fed.gauge.asked.empty());
}

TEST(FedBlocks, AnAppliedEditIsInEffectWhenItIsAnswered) {
    Fed fed;
    const auto written = fed.set(5);
    ASSERT_TRUE(written);
    EXPECT_EQ(answer(written->block), "applied");
    EXPECT_EQ(written->block.source->name, "gauge");
    EXPECT_EQ(fed.level(), "5/5");
    // One version is the agent's, the next its source's.
    const auto history = fed.desk().ask<MemoryHistory>([&](auto reply) {
        fed.study.calls().history(Study::as("agent:ada"), "gauge", 2, "", std::move(reply));
    });
    ASSERT_EQ(history->page.versions.size(), 2U);
    EXPECT_EQ(history->page.versions[0].actor, "source:gauge");
    EXPECT_EQ(history->page.versions[0].description, "update");
    EXPECT_EQ(history->page.versions[1].actor, "agent:ada");
    EXPECT_EQ(history->page.versions[1].version_id, cat(written->block.version));
}

TEST(FedBlocks, APendingEditStandsAndSaysSo) {
    Fed fed;
    const auto written = fed.set(50);
    EXPECT_EQ(answer(written->block), "pending");
    EXPECT_EQ(written->block.source->message, "it is seen to");
    // Its source was told of the config that stands now.
    EXPECT_NE(fed.gauge.attended.back().find(R"("level":50)"), std::string::npos);
}

TEST(FedBlocks, ARejectedEditChangesNothingWhoeverMakesIt) {
    for (const char* const by : {"agent:ada", "human:tom", "system:test", "source:other"}) {
        Fed fed;
        const std::string before = fed.read();
        const std::uint64_t version = fed.study.version("gauge");
        const auto written = fed.set(500, by);
        ASSERT_EQ(reason(written), "source_rejected") << by;
        EXPECT_EQ(written.error().code(), Errc::invalid_argument);
        EXPECT_EQ(written.error().message(),
                  "the source 'gauge' rejects it: config.level is too high. Set it to 100 at most");
        EXPECT_EQ(json::write(written.error().details()),
                  R"({"source":"gauge","field":"level","value":500,"allowed":"100 at most"})");
        EXPECT_EQ(fed.read(), before);
        EXPECT_EQ(fed.study.version("gauge"), version);
    }
}

TEST(FedBlocks, AValueOfTheWrongTypeIsRefusedBeforeTheSourceIsAsked) {
    Fed fed;
    EXPECT_EQ(reason(fed.set("high")), "schema_mismatch");
    EXPECT_EQ(reason(fed.study.write("gauge", SetField{{"config", "depth"}, 1})),
              "field_not_found");
    EXPECT_TRUE(fed.gauge.asked.empty());
}

TEST(FedBlocks, AnEditThatChangesNothingAsksNobody) {
    Fed fed;
    const auto written = fed.set(1);
    EXPECT_EQ(answer(written->block), "");
    EXPECT_TRUE(fed.gauge.asked.empty());
}

TEST(FedBlocks, WritesToListsAndCountersAreJudgedToo) {
    Fed fed;
    const memory::FieldPath tags{"config", "tags"};
    EXPECT_EQ(reason(fed.study.write("gauge", AppendToList{tags, "bad"})), "source_rejected");
    EXPECT_EQ(answer(fed.study.write("gauge", AppendToList{tags, "good"})->block), "applied");
    EXPECT_EQ(answer(fed.study.write("gauge", AppendToList{tags, "bad"})->block), "applied");
    EXPECT_EQ(reason(fed.study.write("gauge", RemoveFromList{tags, 0})), "source_rejected");
    EXPECT_EQ(reason(fed.study.write("gauge", SetField{tags, List{"bad"}})), "source_rejected");
    EXPECT_EQ(answer(fed.study.write("gauge", IncrementCounter{{"config", "visits"}, 1})->block),
              "applied");
    EXPECT_NE(fed.gauge.asked.back().find(R"("visits":1)"), std::string::npos);
}

TEST(FedBlocks, UndoAndRedoAreJudged) {
    Fed fed;
    const memory::FieldPath tags{"config", "tags"};
    ASSERT_TRUE(fed.study.write("gauge", AppendToList{tags, "good"}));
    ASSERT_TRUE(fed.study.write("gauge", AppendToList{tags, "bad"}, "agent:bob"));
    // Without "good" it would be "bad" alone.
    EXPECT_EQ(reason(fed.study.undo("gauge")), "source_rejected");
    ASSERT_TRUE(fed.study.undo("gauge", "agent:bob"));
    const auto undone = fed.study.undo("gauge");
    ASSERT_TRUE(undone);
    EXPECT_EQ(answer(undone->block), "applied");
    EXPECT_EQ(reason(fed.study.undo("gauge", "agent:bob", true)), "source_rejected");
    const auto redone = fed.study.undo("gauge", "agent:ada", true);
    EXPECT_EQ(answer(redone->block), "applied");
    EXPECT_EQ(reason(fed.study.undo("gauge", "agent:bob", true)), "fine");
}

TEST(FedBlocks, AnUndoAfterManyOthersIsJudgedByItsResult) {
    Fed fed;
    ASSERT_TRUE(fed.set(5));
    ASSERT_TRUE(fed.set(50));
    ASSERT_TRUE(fed.study.undo("gauge"));
    EXPECT_EQ(fed.level(), "5/5");
    EXPECT_EQ(answer(fed.study.undo("gauge", "agent:ada", true)->block), "pending");
    EXPECT_EQ(answer(fed.study.undo("gauge")->block), "applied");
    EXPECT_EQ(answer(fed.study.undo("gauge")->block), "applied");
    EXPECT_EQ(fed.level(), "1/1");
}

TEST(FedBlocks, ARevisionFromAnEditorIsJudgedByTheSource) {
    Fed fed;
    const auto revise = [&](std::string_view config) {
        const MemoryRevise what{cat(fed.study.version("gauge")),
                                Map{{"config", json::parse(config).value()}}};
        return fed.desk().ask<MemoryRevised>([&](auto reply) {
            fed.study.calls().revise(Study::as("human:tom"), "gauge", what, std::move(reply));
        });
    };
    EXPECT_EQ(reason(revise(R"({"level": 500, "visits": 0})")), "source_rejected");
    EXPECT_EQ(fed.level(), "1/1");
    const auto revised = revise(R"({"level": 5, "visits": 0})");
    ASSERT_TRUE(revised);
    EXPECT_EQ(answer(revised->block), "applied");
    EXPECT_EQ(fed.level(), "5/5");
}

TEST(FedBlocks, ARollbackIsJudged) {
    Fed fed;
    const memory::FieldPath tags{"config", "tags"};
    ASSERT_TRUE(fed.study.write("gauge", SetField{{"config", "level"}, 5}));
    const std::string at_five = cat(fed.study.version("gauge"));
    ASSERT_TRUE(fed.study.write("gauge", SetField{{"config", "visits"}, 3}));
    const auto back = fed.study.rollback("gauge", at_five);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(answer(*back), "applied");
    // The source's own write of a config is not verdict, and nobody else goes back to it.
    ASSERT_TRUE(fed.study.write("gauge", SetField{tags, List{"bad"}}, "source:gauge"));
    const std::string at_bad = cat(fed.study.version("gauge"));
    ASSERT_TRUE(fed.study.write("gauge", SetField{tags, List{"good"}}));
    EXPECT_EQ(reason(fed.study.rollback("gauge", at_bad)), "source_rejected");
}

TEST(FedBlocks, ItsShapeItsLabelAndItsEndAreTheSources) {
    Fed fed;
    ASSERT_TRUE(fed.study.create("notes", R"("Text")", Permission::read_write, "human:tom",
                                 MemoryType::archival));
    const char* const shape =
        R"({"Composite": {"sections": [{"name": "config", "schema": "Text"}]}})";
    for (const char* const by : {"human:tom", "system:test"}) {
        EXPECT_EQ(reason(fed.study.convert("gauge", shape, "{}", false, by)), "source_owned");
        EXPECT_EQ(reason(fed.study.erase("gauge", by)), "source_owned");
        EXPECT_EQ(reason(fed.study.archive("gauge", {}, by)), "source_owned");
        EXPECT_EQ(reason(fed.study.swap("gauge", "notes", by)), "source_owned");
    }
    EXPECT_EQ(reason(fed.study.convert("gauge", shape)), "source_owned");
    EXPECT_EQ(reason(fed.study.share("gauge", "agent:eve", Permission::admin)),
              "permission_denied");
    EXPECT_EQ(reason(fed.study.erase("gauge")), "permission_denied");
}

TEST(FedBlocks, ASourcesValuesAreWrittenOnceAndOnlyIfTheyDiffer) {
    Fed fed;
    const std::uint64_t version = fed.study.version("gauge");
    fed.gauge.tell();
    fed.desk().scheduler.run_all();
    EXPECT_EQ(fed.study.version("gauge"), version);
    fed.gauge.found = List{"a", "b"};
    fed.gauge.tell();
    fed.gauge.tell();
    fed.desk().scheduler.run_all();
    EXPECT_EQ(fed.study.version("gauge"), version + 1);
    EXPECT_NE(fed.read().find(R"("found":["a","b"])"), std::string::npos);
}

TEST(FedBlocks, ABlockOfAnEarlierStartIsTakenUpWithItsConfig) {
    Fed fed;
    ASSERT_TRUE(fed.set(5));
    const std::string before = fed.read();
    EXPECT_TRUE(fed.start().empty());
    EXPECT_EQ(fed.read(), before);
}

TEST(FedBlocks, AnAgentsBlockOfTheSameLabelTakesNothingFromTheSource) {
    Gauge gauge;
    Study study({&gauge});
    ASSERT_TRUE(study.create("gauge", kStatus));
    const std::unique_ptr<FedSource> fed = std::move(FedSource::all_of(study.calls()).front());
    Sources sources({fed.get()});
    const auto told = study.desk.ask<std::vector<std::string>>(
        [&](auto reply) { sources.start(std::move(reply)); });
    EXPECT_TRUE(told->empty());
    EXPECT_FALSE(fed->state().failed);
    EXPECT_EQ(study.view("gauge")->row.owner.str(), "agent:ada");
    EXPECT_EQ(study.view("gauge", "agent:bo")->row.owner.str(), "source:gauge");
}

TEST(FedBlocks, TheSourcesCallsReachItsBlockAndNoOtherOfTheLabel) {
    Fed fed;
    ASSERT_TRUE(fed.study.create("gauge", kStatus));
    Source& source = *fed.fed.front();
    const Caller ada = Study::as("agent:ada");
    const auto load = [&](const std::string& address) {
        return fed.desk().ask<SourceVersion>(
            [&](auto reply) { source.load(ada, address, std::move(reply)); });
    };
    const std::string id = fed.study.view("gauge", "agent:eve")->row.block.block_id;
    EXPECT_EQ(load("memory:gauge")->block_id, id);
    EXPECT_TRUE(source.matches(id));
    EXPECT_FALSE(source.matches(fed.study.view("gauge")->row.block.block_id));

    const auto history = fed.desk().ask<OfBlock<HistoryPage>>(
        [&](auto reply) { source.history(ada, id, 10, "", std::move(reply)); });
    ASSERT_TRUE(history);
    EXPECT_EQ(history->answer.versions.back().actor, "source:gauge");
    const auto diff = fed.desk().ask<OfBlock<BlockDiff>>(
        [&](auto reply) { source.diff(ada, id, std::nullopt, std::nullopt, std::move(reply)); });
    ASSERT_TRUE(diff);
    EXPECT_NE(diff->answer.diff.find("+"), std::string::npos);
    const auto saved = fed.desk().ask<OfBlock<SourceSaved>>(
        [&](auto reply) { source.save(ada, id, std::move(reply)); });
    ASSERT_TRUE(saved);
    EXPECT_FALSE(saved->answer.written);

    EXPECT_EQ(reason(fed.desk().ask<SourceVersion>(
                  [&](auto reply) { source.create(ada, {"memory:gauge"}, std::move(reply)); })),
              "source_owned");
    EXPECT_EQ(reason(fed.desk().ask<SourceVersion>([&](auto reply) {
                  source.erase(Study::as("human:tom"), "memory:gauge", std::move(reply));
              })),
              "source_owned");
    EXPECT_EQ(reason(fed.desk().ask<OfBlock<Edited>>(
                  [&](auto reply) { source.rollback(ada, id, "1", std::move(reply)); })),
              "memory_block");
}

TEST(FedBlocks, SourcesAreListedAndRunByName) {
    Fed fed;
    const auto run = [&](const std::string& name) {
        std::optional<Result<std::string>> done;
        fed.sources.run({}, name, [&](Result<std::string> begun) { done = std::move(begun); });
        fed.desk().scheduler.run_all();
        return done ? reason(*done) : "no answer";
    };
    const Source& source = *fed.fed.front();
    EXPECT_EQ(source.spec().source_id, "gauge");
    EXPECT_EQ(source.state().text, "it counts");
    EXPECT_TRUE(source.matches("memory:gauge"));
    EXPECT_TRUE(source.matches("memory:source:gauge/gauge"));
    EXPECT_FALSE(source.matches("memory:agent:ada/gauge"));
    const std::vector<SourceBlock> blocks =
        source.blocks({{policy::ActorKind::agent, "eve"}, 0, {}});
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0].name, "gauge");
    EXPECT_EQ(blocks[0].block_id, fed.study.view("gauge", "agent:eve")->row.block.block_id);
    EXPECT_EQ(run("gauge"), "fine");
    EXPECT_EQ(fed.gauge.runs, 1);
    EXPECT_EQ(run("other"), "unknown_source");
}

}  // namespace
}  // namespace quire::kernel
