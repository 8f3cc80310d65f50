#include "memory/memory_document.h"

#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "memory/memory_desk_for_test.h"

namespace quire::memory {
namespace {

BlockSchema status_and_tags() {
    return MapSchema{{{.name = "status"},
                      {.name = "tags", .type = FieldType::list},
                      {.name = "count", .type = FieldType::counter}}};
}

struct Library {
    explicit Library(BlockSchema schema = status_and_tags())
        : memory(doc, {.label = "notes", .schema = std::move(schema)}, writer("agent:ada"), clock) {
    }

    // The messages of all commits, latest first.
    std::vector<std::string> messages() const {
        std::vector<std::string> out;
        EXPECT_TRUE(doc.history()
                        .travel_ancestors(doc.frontiers(),
                                          [&](const crdt::ChangeHeader& each) {
                                              out.push_back(each.message);
                                              return true;
                                          })
                        .has_value());
        return out;
    }
    void set_status(const char* to) {
        ASSERT_TRUE(memory.edit().set_field({"", "status"}, to).has_value());
    }

    ManualClock clock;
    crdt::Doc doc{1};
    MemoryDocument memory;
};

TEST(MemoryDocument, KnowsItsBlockAndItsAccessor) {
    Library library;
    EXPECT_EQ(library.memory.label(), "notes");
    EXPECT_EQ(library.memory.accessor().str(), "agent:ada");
    EXPECT_EQ(library.memory.block().schema, status_and_tags());
}

TEST(MemoryDocument, AWriteIsACommitWithItsAttribution) {
    Library library;
    library.set_status("busy");
    ASSERT_TRUE(
        library.memory.edit(writer("source:lsp")).append_to_list({"", "tags"}, "x").has_value());
    EXPECT_TRUE(library.doc.pending().empty());
    EXPECT_EQ(library.messages(), (std::vector<std::string>{"source:lsp:append_to_list:tags",
                                                            "agent:ada:set_field:status"}));
}

TEST(MemoryDocument, ARefusedWriteIsNoCommit) {
    Library library;
    EXPECT_FALSE(library.memory.edit().set_field({"", "status"}, 5).has_value());
    EXPECT_EQ(library.doc.history().op_count(), 0U);
}

TEST(MemoryDocument, ABatchIsOneCommit) {
    Library library;
    {
        const auto batch = library.memory.batch("tidy");
        library.set_status("busy");
        {
            const auto within = library.memory.batch("more");
            ASSERT_TRUE(library.memory.edit().append_to_list({"", "tags"}, "x").has_value());
        }
        EXPECT_FALSE(library.doc.pending().empty());
    }
    EXPECT_TRUE(library.doc.pending().empty());
    EXPECT_EQ(library.messages(), (std::vector<std::string>{"agent:ada:tidy"}));
    EXPECT_EQ(library.memory.reader().value(),
              Value(Map{{"status", "busy"}, {"tags", List{"x"}}, {"count", 0}}));
}

TEST(MemoryDocument, ABatchIsItsActors) {
    Library library;
    {
        const auto batch =
            library.memory.batch({policy::ActorKind::system, "kernel"}, "compression");
        library.set_status("busy");
    }
    EXPECT_EQ(library.messages(), (std::vector<std::string>{"system:compression"}));
}

TEST(MemoryDocument, AnEmptyBatchLeavesNothingBehind) {
    Library library;
    { const auto batch = library.memory.batch("nothing"); }
    library.set_status("busy");
    EXPECT_EQ(library.messages(), (std::vector<std::string>{"agent:ada:set_field:status"}));
}

TEST(MemoryDocument, AnAttributionIsForTheNextCommitThatHoldsSomething) {
    Library library;
    library.memory.auto_attribution("plan");
    EXPECT_TRUE(library.memory.commit().empty());
    library.set_status("busy");
    library.set_status("idle");
    {
        const auto batch = library.memory.batch("tidy");
        library.set_status("away");
        library.memory.set_attribution("agent:ada:chosen");
    }
    EXPECT_EQ(library.messages(),
              (std::vector<std::string>{"agent:ada:chosen", "agent:ada:set_field:status",
                                        "agent:ada:plan"}));
}

TEST(MemoryDocument, AnAutomaticAttributionTellsTheDetail) {
    Library library;
    library.memory.auto_attribution("plan:tasks");
    library.set_status("busy");
    library.memory.auto_attribution("plan:tasks:old");
    library.set_status("idle");
    library.memory.auto_attribution("plan:");
    library.set_status("away");
    EXPECT_EQ(library.messages(),
              (std::vector<std::string>{"agent:ada:plan", "agent:ada:plan:tasks%3Aold",
                                        "agent:ada:plan:tasks"}));
}

TEST(MemoryDocument, OpsMadeByHandAreCommittedWithAnAttribution) {
    Library library;
    ASSERT_TRUE(library.doc.map(library.doc.open(root_of(""))).set("status", "x").has_value());
    EXPECT_FALSE(library.memory.commit_with_attribution("source:lsp:update").empty());
    EXPECT_EQ(library.messages(), (std::vector<std::string>{"source:lsp:update"}));
}

TEST(MemoryDocument, UndoAndRedoGoOneWriteAtATime) {
    Library library;
    library.set_status("one");
    library.set_status("two");
    EXPECT_EQ(library.memory.undo().value(), true);
    EXPECT_EQ(library.memory.reader().field({"", "status"}).value(), Value("one"));
    EXPECT_EQ(library.memory.redo().value(), true);
    EXPECT_EQ(library.memory.reader().field({"", "status"}).value(), Value("two"));
    EXPECT_FALSE(library.memory.can_redo());
    EXPECT_TRUE(library.memory.can_undo());
    EXPECT_EQ(library.messages()[0], "agent:ada:redo");
    EXPECT_EQ(library.messages()[1], "agent:ada:undo");
}

TEST(MemoryDocument, ToUndoIsToOverwrite) {
    ManualClock clock;
    crdt::Doc doc(1);
    MemoryDocument memory(doc, {.label = "notes"}, writer("agent:ada", policy::Permission::append),
                          clock);
    ASSERT_TRUE(memory.edit().append_text("", "x").has_value());
    EXPECT_EQ(reason(memory.undo()), "permission_denied");
    EXPECT_EQ(memory.reader().value(), Value("x"));
}

TEST(MemoryDocument, SubscribersHearOfEachCommit) {
    Library library;
    std::vector<std::string> heard;
    const auto all = library.memory.subscribe_root(
        [&](const crdt::Event& event) { heard.push_back(event.message); });
    int counted = 0;
    {
        const auto count =
            library.memory.subscribe(value_of("", *library.memory.block().schema.field("count")),
                                     [&](const crdt::Event&) { ++counted; });
        ASSERT_TRUE(library.memory.edit().increment_counter({"", "count"}, 1).has_value());
        library.memory.commit();
        ASSERT_TRUE(library.memory.edit().increment_counter({"", "count"}, 1).has_value());
        library.memory.commit();
    }
    library.set_status("busy");
    ASSERT_TRUE(library.memory.edit().increment_counter({"", "count"}, 1).has_value());
    EXPECT_EQ(counted, 2);
    EXPECT_EQ(heard.size(), 4U);
    EXPECT_EQ(heard[2], "agent:ada:set_field:status");
}

TEST(MemoryDocument, ContentEventsComeBySection) {
    const BlockSchema inner = CompositeSchema{{{"log", BlockSchema(LogSchema{})}}};
    Library library(CompositeSchema{{{"text", BlockSchema()},
                                     {"map", status_and_tags()},
                                     {"list", BlockSchema(ListSchema{})},
                                     {"inner", inner}}});
    std::vector<std::string> heard;
    const auto subscription = library.memory.subscribe_content([&](const ContentEvent& event) {
        heard.push_back(cat(event.section, " by ",
                            event.by ? event.by->actor.str() : std::string("nobody"), " in ",
                            event.diffs.size()));
    });
    ASSERT_TRUE(library.memory.edit().set_text("text", "x").has_value());
    ASSERT_TRUE(library.memory.edit().append_to_list({"map", "tags"}, "x").has_value());
    ASSERT_TRUE(library.memory.edit().push_item("list", Map{{"a", 1}}).has_value());
    ASSERT_TRUE(library.memory.edit().set_item_field("list", 0, "a", 2).has_value());
    ASSERT_TRUE(
        library.memory.edit(writer("source:lsp")).append_entry("inner/log", "x").has_value());
    {
        const auto batch = library.memory.batch("both");
        ASSERT_TRUE(library.memory.edit().set_text("text", "y").has_value());
        ASSERT_TRUE(library.memory.edit().set_field({"map", "status"}, "y").has_value());
    }
    EXPECT_EQ(heard, (std::vector<std::string>{"text by agent:ada in 1", "map by agent:ada in 1",
                                               "list by agent:ada in 2", "list by agent:ada in 1",
                                               "inner/log by source:lsp in 1",
                                               "map by agent:ada in 1", "text by agent:ada in 1"}));
}

TEST(MemoryDocument, ImportsAreReportedWithoutAnAuthor) {
    Library library(BlockSchema{});
    crdt::Doc other(2);
    ASSERT_TRUE(other.text(other.open(content_of(""))).insert({0}, "x").has_value());
    other.commit();
    std::vector<ContentEvent> heard;
    const auto subscription = library.memory.subscribe_content(
        [&](const ContentEvent& event) { heard.push_back(event); });
    ASSERT_TRUE(library.doc.import(other.changes_since({})).has_value());
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].section, "");
    EXPECT_EQ(heard[0].by, std::nullopt);
    EXPECT_EQ(heard[0].origin, crdt::Event::By::import);
}

}  // namespace
}  // namespace quire::memory
