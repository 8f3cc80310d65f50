#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "codec/updates.h"
#include "kernel/carried.h"
#include "kernel/memory_study_test.h"

namespace quire::kernel {
namespace {

class Carrier : public Study {
public:
    Result<CarriedBlock> out(const std::string& label, const std::string& by = "human:tom") {
        return desk.ask<CarriedBlock>(
            [&](auto reply) { calls().export_block(as(by), label, std::move(reply)); });
    }
    Result<MemoryImported> in(std::vector<CarriedBlock> blocks, const std::string& suffix = "",
                              const std::string& by = "human:tom") {
        MemoryImport what{std::move(blocks)};
        what.suffix = suffix;
        return desk.ask<MemoryImported>(
            [&](auto reply) { calls().import_blocks(as(by), what, std::move(reply)); });
    }
};

// What comes out, as it stands in a file and is read from it.
CarriedBlock over_the_wire(const CarriedBlock& block) {
    return carried_of(json::parse(json::write(to_value(block))).value()).value();
}

TEST(MemoryCarry, ANumberThatLeavesNoRoomForOthersIsDamage) {
    Carrier here;
    ASSERT_TRUE(here.create("build"));
    ASSERT_TRUE(here.set("build", "status", "busy"));
    const Value form = to_value(here.out("build").value());
    for (const char* member : {"version", "timestamp"}) {
        for (const std::int64_t number : {INT64_MAX, INT64_MAX - 2, std::int64_t{-1}}) {
            Value changed = form;
            Map& block = changed.as_map();
            if (std::string_view(member) == "version") {
                block.set("version", number);
            } else {
                List history = block.find("history")->as_list();
                history.back().as_map().set(member, number);
                block.set("history", std::move(history));
            }
            EXPECT_EQ(reason(carried_of(changed)), "corrupt") << member << " " << number;
        }
    }
}

TEST(MemoryCarry, ABlockIsTheSameElsewhere) {
    Carrier here;
    ASSERT_TRUE(here.create("build"));
    ASSERT_TRUE(here.set("build", "status", "busy"));
    ASSERT_TRUE(here.write("build", IncrementCounter{{"", "visits"}, 0.5}));
    ASSERT_TRUE(here.write("build", IncrementCounter{{"", "visits"}, 0.25}));
    ASSERT_TRUE(here.undo("build"));
    ASSERT_TRUE(here.share("build", "agent:bo", Permission::append));
    Carrier there;

    const auto made = there.in({over_the_wire(here.out("build").value())});

    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->blocks.size(), 1U);
    EXPECT_EQ(made->blocks[0].block.version, here.version("build") + 1);
    EXPECT_EQ(there.value("build"), here.value("build"));
    EXPECT_EQ(there.view("build", "agent:bo")->row.permission, Permission::append);
    there.crash();
    EXPECT_EQ(there.value("build"), here.value("build"));
    // The redo of what was undone there, and the undo of what was done there.
    ASSERT_TRUE(there.undo("build", "agent:ada", true));
    EXPECT_NE(there.value("build"), here.value("build"));
    ASSERT_TRUE(there.undo("build"));
    ASSERT_TRUE(there.undo("build"));
    ASSERT_TRUE(there.undo("build"));
    EXPECT_EQ(there.value("build"), R"({"visits":0})");
    EXPECT_EQ(there.search("label:build"), "build");
}

// Two copies that go on from one history must not write under one peer.
TEST(MemoryCarry, CopiesGoOnAsPeersOfTheirOwn) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "one"}));
    const CarriedBlock block = here.out("notes").value();
    Carrier there;
    ASSERT_TRUE(there.in({block}));
    ASSERT_TRUE(here.write("notes", AppendContent{"", " two"}));
    ASSERT_TRUE(there.write("notes", AppendContent{"", " three"}));

    const auto again = there.out("notes");
    ASSERT_TRUE(again);
    const auto peers = [](const CarriedBlock& of) {
        std::set<crdt::PeerId> out;
        const auto changes = codec::decode_updates(of.updates).value();
        for (const crdt::Change& each : changes) out.insert(each.id.peer);
        return out;
    };
    EXPECT_EQ(peers(block).size(), 1U);
    EXPECT_EQ(peers(*again).size(), 2U);
    EXPECT_EQ(peers(here.out("notes").value()).size(), 1U);
}

TEST(MemoryCarry, AllOfThemOrNone) {
    Carrier here;
    for (const char* label : {"a", "b", "c"}) ASSERT_TRUE(here.create(label, R"("Text")"));
    std::vector<CarriedBlock> blocks;
    for (const char* label : {"a", "b", "c"}) blocks.push_back(here.out(label).value());
    Carrier there;
    ASSERT_TRUE(there.create("b", R"("Text")"));

    const auto refused = there.in(blocks);
    EXPECT_EQ(reason(refused), "label_exists");
    EXPECT_EQ(refused.error().details().find("labels")->as_list().size(), 1U);
    EXPECT_EQ(there.labels(), "b ");
    // A block more than once is taken like any other label.
    EXPECT_EQ(reason(here.in({blocks[0], blocks[0]}, "_x")), "label_exists");

    there.desk.store.fail_next();
    EXPECT_EQ(reason(there.in({blocks[0], blocks[2]})), "disk_full");
    EXPECT_EQ(there.labels(), "b ");
    EXPECT_EQ(there.value("a"), "invalid_reference");
    ASSERT_TRUE(there.in(blocks, "_2"));
    EXPECT_EQ(there.labels(), "a b b_2 c ");
    EXPECT_EQ(there.value("a"), R"("")");
}

TEST(MemoryCarry, WhoeverAsksMeanwhileWaits) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "one"}));
    const CarriedBlock block = here.out("notes").value();
    Carrier there;
    there.desk.store.hold(true);
    const auto carried = there.desk.start_call<MemoryImported>([&](auto reply) {
        there.calls().import_blocks(Study::as("human:tom"), MemoryImport{{block}},
                                    std::move(reply));
    });
    const auto written = there.desk.start_call<MemoryWritten>([&](auto reply) {
        there.calls().write(Study::as("agent:ada"), "notes", AppendContent{"", " two"},
                            std::move(reply));
    });
    EXPECT_FALSE(carried->has_value() || written->has_value());

    there.desk.store.hold(false);
    there.desk.store.flush();
    there.desk.scheduler.run_all();

    ASSERT_TRUE(carried->has_value() && written->has_value());
    EXPECT_TRUE(**carried && **written);
    EXPECT_EQ(there.value("notes"), R"("one two")");
}

TEST(MemoryCarry, WhatIsNotWhatItSaysIsRefused) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "one"}));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "two"}));
    const CarriedBlock block = here.out("notes").value();
    Carrier there;
    const auto with = [&](auto change) {
        CarriedBlock changed = block;
        change(changed);
        return reason(there.in({changed}));
    };

    EXPECT_EQ(with([](CarriedBlock& of) { of.value = "onetwo!"; }), "corrupt");
    EXPECT_EQ(with([](CarriedBlock& of) { of.updates.pop_back(); }), "corrupt");
    EXPECT_EQ(with([](CarriedBlock& of) { of.updates.clear(); }), "corrupt");
    EXPECT_EQ(with([](CarriedBlock& of) { of.units.back().body.pop_back(); }), "corrupt");
    EXPECT_EQ(with([](CarriedBlock& of) { of.units.back().actor = "nobody"; }), "corrupt");
    EXPECT_EQ(with([](CarriedBlock& of) { of.header.block.label = "\n"; }), "invalid_label");
    EXPECT_EQ(with([](CarriedBlock& of) { of.header.block.schema = schema::MapSchema{}; }),
              "corrupt");
    EXPECT_EQ(there.labels("system:test"), "");
    EXPECT_EQ(with([](CarriedBlock&) {}), "fine");
}

TEST(MemoryCarry, ABlockWithoutHistoryIsMadeByWhoBringsIt) {
    Carrier there;
    CarriedBlock block;
    block.header.block.label = "notes";
    block.header.block.char_limit = 5;
    block.header.owner = {policy::ActorKind::agent, "ada"};
    block.value = "hello";
    ASSERT_TRUE(there.in({block}));
    EXPECT_EQ(there.value("notes"), R"("hello")");
    EXPECT_EQ(there.version("notes"), 1U);
    block.header.block.label = "more";
    block.value = "hello!";
    EXPECT_EQ(reason(there.in({block})), "char_limit");
    EXPECT_EQ(there.labels(), "notes ");
}

TEST(MemoryCarry, PeopleBringInAndOwnersCarryOut) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    ASSERT_TRUE(here.share("notes", "agent:bo", Permission::admin));
    EXPECT_EQ(reason(here.out("notes", "agent:ada")), "fine");
    EXPECT_EQ(reason(here.out("notes", "agent:bo")), "permission_denied");
    EXPECT_EQ(reason(here.out("notes", "agent:eve")), "permission_denied");
    const std::vector<CarriedBlock> blocks = {here.out("notes").value()};
    EXPECT_EQ(reason(Carrier().in(blocks, "", "agent:ada")), "permission_denied");
    EXPECT_EQ(reason(Carrier().in(blocks, "", "source:lsp")), "permission_denied");
    EXPECT_EQ(reason(Carrier().in(blocks)), "fine");
}

}  // namespace
}  // namespace quire::kernel
