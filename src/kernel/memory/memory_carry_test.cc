#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "codec/updates.h"
#include "kernel/core/unit.h"
#include "kernel/memory/carried.h"
#include "kernel/memory/memory_study_test.h"

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

// The block as it is after a trip through a file.
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

// The messages of changes name their actors, and an import holds them against the history.
TEST(MemoryCarry, EveryKindAndNameOfActorTravels) {
    std::mt19937 random(7);
    const std::string letters = "azAZ09._-@";
    for (int round = 0; round < 50; ++round) {
        Carrier here;
        ASSERT_TRUE(here.create("build", kStatus, Permission::admin));
        for (const char* const kind : {"agent:", "human:", "source:", "system:"}) {
            std::string by = kind;
            for (std::size_t left = 1 + random() % 8; left > 0; --left)
                by += letters[random() % letters.size()];
            if (!policy::Actor::parse(by)) by = cat(kind, "kernel");
            ASSERT_EQ(reason(here.share("build", by, Permission::admin)), "fine") << by;
            ASSERT_EQ(reason(here.set("build", "status", by, by)), "fine") << by;
            ASSERT_EQ(reason(here.write("build", AppendToList{{"", "tags"}, by}, by)), "fine");
            if (random() % 2 == 0) {
                ASSERT_EQ(reason(here.undo("build", by)), "fine");
            }
        }
        Carrier there;
        const auto made = there.in({over_the_wire(here.out("build").value())});
        ASSERT_TRUE(made) << made.error().message();
        EXPECT_EQ(there.value("build"), here.value("build"));
    }
}

// A change's message without the system's name, as earlier programs wrote it, is any system actor's.
TEST(MemoryCarry, AMessageMayLeaveOutTheSystemsName) {
    Carrier here;
    ASSERT_TRUE(here.create("build"));
    ASSERT_TRUE(here.set("build", "status", "busy", "system:tidy"));
    CarriedBlock block = here.out("build").value();
    Carrier there;
    for (store::UnitRecord& entry : block.units) {
        if (entry.actor == "system:tidy") entry.actor = "system:other";
    }
    EXPECT_EQ(reason(there.in({block})), "fine");
    for (store::UnitRecord& entry : block.units) {
        if (entry.actor == "system:other") entry.actor = "agent:ada";
    }
    Carrier third;
    EXPECT_EQ(reason(third.in({block})), "corrupt");
}

// An earlier version stored labels that no block may be given today.
TEST(MemoryCarry, ALabelThatIsNotAllowedIsTakenInWithASuffix) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", kText));
    CarriedBlock block = here.out("notes").value();
    block.header.block.label = "b1";
    Carrier there;

    EXPECT_EQ(reason(there.in({over_the_wire(block)})), "invalid_label");
    EXPECT_EQ(there.labels("system:test"), "");
    EXPECT_EQ(reason(there.in({over_the_wire(block)}, "-old")), "fine");
    EXPECT_EQ(there.labels("system:test"), "b1-old ");
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
        const auto changes = codec::decode_updates(of.updates).value().changes();
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

TEST(MemoryCarry, CallsDuringAnImportWait) {
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

TEST(MemoryCarry, AFalsifiedBlockIsRefused) {
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
    EXPECT_EQ(with([](CarriedBlock& of) { of.header.block.schema = memory::MapSchema{}; }),
              "corrupt");
    EXPECT_EQ(there.labels("system:test"), "");
    EXPECT_EQ(with([](CarriedBlock&) {}), "fine");
}

// A forged file has correct digests, so the digests alone prove nothing.
TEST(MemoryCarry, HistoryIsCheckedAgainstTheChanges) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    ASSERT_TRUE(here.share("notes", "agent:bo", Permission::read_write));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "one"}));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "two"}, "agent:bo"));
    ASSERT_TRUE(here.write("notes", AppendContent{"", "three"}));
    ASSERT_TRUE(here.undo("notes"));
    const CarriedBlock block = here.out("notes").value();
    // create, share, one, two, three (undone), undo.
    ASSERT_EQ(block.units.size(), 6U);
    Carrier there;
    const auto with = [&](std::size_t at, auto change) {
        CarriedBlock changed = block;
        Unit unit = from_record(changed.units[at]).value();
        change(unit);
        changed.units[at] = to_record(unit, 0, "");
        const auto made = there.in({changed});
        return made ? "fine" : made.error().message();
    };

    EXPECT_EQ(with(2, [](Unit& of) { of.spans[0].begin = -1; }),
              "the block 'notes' is damaged: version 3 of its history is of changes that are not "
              "there");
    EXPECT_TRUE(with(2, [](Unit& of) { of.spans[0].end = 99; }).ends_with("not there"));
    EXPECT_TRUE(with(2, [](Unit& of) {
                    std::swap(of.spans[0].begin, of.spans[0].end);
                }).ends_with("not there"));
    EXPECT_TRUE(with(2, [](Unit& of) { of.kept = {{1, 0, 1}}; }).ends_with("not there"));
    EXPECT_TRUE(with(2, [](Unit& of) { of.heads->at(0).counter = -1; }).ends_with("not there"));
    EXPECT_TRUE(with(3, [](Unit& of) {
                    of.actor = "agent:ada";
                }).ends_with("version 4 of its history is of changes that agent:ada did not make"));
    EXPECT_TRUE(with(2, [](Unit& of) { of.state = UnitState::undone; }).ends_with("fine"));
    EXPECT_TRUE(with(3, [](Unit& of) {
                    of.heads = crdt::Frontiers();
                }).ends_with("older than the one before"));
    EXPECT_TRUE(with(5, [&](Unit& of) {
                    of.heads = from_record(block.units[3])->heads;
                }).ends_with("older than the one before"));
    EXPECT_TRUE(with(0, [](Unit& of) {
                    of.state = UnitState::undone;
                }).ends_with("cannot be undone and says that it was"));
    EXPECT_TRUE(with(2, [](Unit& of) {
                    of.kind = UnitKind::erase;
                }).ends_with("is of a kind that memory has not"));
    CarriedBlock changed = block;
    changed.units[2].state = "never";
    EXPECT_EQ(there.in({changed}).error().details().find("block")->as_int(), 0);
    changed = block;
    changed.units.pop_back();
    changed.units.pop_back();
    EXPECT_TRUE(there.in({changed}).error().message().ends_with(
        "it has changes that no entry of its history is of"));
    changed = block;
    changed.header.block.description.assign((std::size_t{1} << 20) + 1, 'a');
    EXPECT_EQ(reason(there.in({changed})), "too_large");
}

inline constexpr std::string_view kMany = R"({"Composite": {"sections": [
    {"name": "map", "schema": {"Map": {"fields": [
        {"name": "status", "field_type": "Text"}, {"name": "visits", "field_type": "Counter"},
        {"name": "tags", "field_type": "List"}]}}},
    {"name": "todo", "schema": "List"}, {"name": "log", "schema": "Log"},
    {"name": "notes", "schema": "Text"}]}})";

// Something or other is done to a block of that schema.
class Random {
public:
    explicit Random(unsigned seed) : random_(seed) {}

    std::size_t one_of(std::size_t count) { return random_() % count; }
    void change(Carrier& block) {
        const std::string by = one_of(3) == 0 ? "agent:bo" : "agent:ada";
        const std::string word = cat("w", one_of(4));
        const auto index = static_cast<std::int64_t>(one_of(3));
        switch (one_of(14)) {
            case 0:
            case 1:
            case 2:
                return done(block.undo("build", by));
            case 3:
            case 4:
                return done(block.undo("build", by, true));
            case 5:
                return done(block.write("build", IncrementCounter{{"map", "visits"}, 0.1}, by));
            case 6:
                return done(block.write("build", AppendToList{{"map", "tags"}, word}, by));
            case 7:
                return done(block.write("build", RemoveFromList{{"map", "tags"}, index}, by));
            case 8:
                return done(block.write(
                    "build", AppendContent{"todo", Map{{"title", word}, {"n", index}}}, by));
            case 9:
                return done(block.write("build", RemoveFromList{{"todo", ""}, index}, by));
            case 10:
                return done(block.write("build", AppendContent{"notes", word + "\n"}, by));
            case 11:
                return done(block.write("build", ReplaceText{"notes", word, "x"}, by));
            case 12:
                return done(block.rollback("build", cat(1 + one_of(block.version("build"))), by));
            default:
                return done(block.write("build", SetField{{"map", "status"}, word}, by));
        }
    }

private:
    template <class T>
    static void done(const Result<T>& /*made or refused*/) {}
    std::mt19937 random_;
};

// Entries of any bytes are refused, or lived with: nothing that is done to the block later ends the
// kernel.
TEST(MemoryCarry, NoAcceptedEntryIsFatalLater) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    Random random(seed);
    int taken = 0;
    int refused = 0;
    for (int round = 0; round < 20 / kRoundsShare; ++round) {
        Carrier here;
        ASSERT_TRUE(here.create("build", kMany));
        ASSERT_TRUE(here.share("build", "agent:bo", Permission::admin));
        for (int i = 0; i < 15; ++i) random.change(here);
        const CarriedBlock block = here.out("build").value();
        for (int i = 0; i < 40; ++i) {
            CarriedBlock changed = block;
            Bytes& body = changed.units[random.one_of(changed.units.size())].body;
            constexpr std::uint8_t kBytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 0x7f, 0x80, 0xff};
            const std::size_t at = random.one_of(body.size());
            const std::size_t end = std::min(body.size(), at + 1 + 3 * random.one_of(2));
            for (std::size_t k = at; k < end; ++k) body[k] = kBytes[random.one_of(11)];
            Carrier there;
            const bool is_in = there.in({changed}).has_value();
            (is_in ? taken : refused) += 1;
            if (!is_in) continue;
            for (const char* by : {"agent:ada", "agent:bo"}) {
                for (int k = 0; k < 6; ++k) (void)there.undo("build", by);
                for (int k = 0; k < 6; ++k) (void)there.undo("build", by, true);
            }
            for (std::uint64_t each = 1; each <= block.version; each += 3) {
                (void)there.diff("build", cat(each));
                (void)there.rollback("build", cat(each), "system:test");
            }
            there.crash();
            EXPECT_TRUE(there.view("build"));
        }
    }
    EXPECT_GT(taken, 0);
    EXPECT_GT(refused, 0);
}

TEST(MemoryCarry, ADoneEntryAfterAnUndoneOneIsRefused) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    for (const char* each : {"one", "two"})
        ASSERT_TRUE(here.write("notes", AppendContent{"", each}));
    CarriedBlock block = here.out("notes").value();
    block.units[1].state = "undone";
    EXPECT_TRUE(Carrier().in({block}).error().message().ends_with(
        "version 3 of its history is done, and what its writer did before is undone"));
}

// Nothing that can be done to a block here is taken for damage there.
TEST(MemoryCarry, EveryExportedHistoryIsAccepted) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string more(kMany);
    more.insert(more.rfind(']'), R"(, {"name": "more", "schema": "Text"})");
    for (int round = 0; round < 20; ++round) {
        auto here = std::make_unique<Carrier>();
        ASSERT_TRUE(here->create("build", kMany));
        ASSERT_TRUE(here->share("build", "agent:bo", Permission::admin));
        for (int step = 0; step < 60; ++step) {
            random.change(*here);
            if (random.one_of(20) == 0) here->crash();
            if (random.one_of(40) == 0)
                (void)here->convert("build", random.one_of(2) == 0 ? more : std::string(kMany));
            if (random.one_of(20) != 0) continue;
            auto there = std::make_unique<Carrier>();
            const auto made = there->in({over_the_wire(here->out("build").value())});
            ASSERT_TRUE(made) << made.error().message();
            here = std::move(there);
        }
        const auto made = Carrier().in({over_the_wire(here->out("build").value())});
        ASSERT_TRUE(made) << made.error().message();
    }
}

TEST(MemoryCarry, AnEntryIsALine) {
    Carrier here;
    ASSERT_TRUE(here.create("notes", R"("Text")"));
    const Value form = to_value(here.out("notes").value());
    EXPECT_EQ(json::write(to_value(carried_of(form).value())), json::write(form));
    const auto with = [&](const std::string& description) {
        Value changed = form;
        List history = changed.get("history")->as_list();
        history[0].as_map().set("description", description);
        changed.as_map().set("history", std::move(history));
        const auto read = carried_of(changed);
        return read ? "fine" : read.error().message();
    };
    EXPECT_EQ(with("set_field name"), "fine");
    for (const std::string each : {"a\nb", "\x1b[2J", "\x7f"})
        EXPECT_EQ(with(each),
                  "the block 'notes' is damaged: the description of version 1 is not one");
    EXPECT_NE(with(std::string(8193, 'a')), "fine");

    Value without = form;
    without.as_map().erase("history");
    EXPECT_EQ(reason(carried_of(without)), "corrupt");
    Value named = form;
    named.as_map().set("label", "\x1b[2J");
    named.as_map().set("header", 1);
    EXPECT_EQ(carried_of(named).error().message().find('\x1b'), std::string::npos);
}

TEST(MemoryCarry, ABlockWithoutHistoryIsCreatedByTheImportingPerson) {
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
    EXPECT_EQ(reason(here.out("notes", "agent:eve")), "invalid_reference");
    const std::vector<CarriedBlock> blocks = {here.out("notes").value()};
    EXPECT_EQ(reason(Carrier().in(blocks, "", "agent:ada")), "permission_denied");
    EXPECT_EQ(reason(Carrier().in(blocks, "", "source:lsp")), "permission_denied");
    EXPECT_EQ(reason(Carrier().in(blocks)), "fine");
}

}  // namespace
}  // namespace quire::kernel
