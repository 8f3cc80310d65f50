#include "memory/revision.h"

#include <gtest/gtest.h>

#include "memory/memory_desk_for_test.h"
#include "memory/random_schema_for_test.h"

namespace quire::memory {
namespace {

using policy::Permission;

// The smallest that can be said to merge: theirs behind ours, marked.
MergedText merged(std::string_view base, std::string_view now, std::string_view wanted) {
    return {cat("<", base, "|", now, "|", wanted, ">"), wanted == "clash"};
}

// A block, and a copy of it as a person was shown it.
struct Table : MemoryDesk {
    explicit Table(BlockSchema schema) : MemoryDesk(std::move(schema)) {}

    void show() {
        doc.commit();
        shown.emplace(doc.fork(99));
    }
    // The reason, or what others had changed too.
    std::string revise(const Value& wanted, const Writer& by = writer("human:tom")) {
        MemoryEdit edit(doc, block, by, now_ms);
        const auto both = memory::revise(edit, {*shown, block.schema}, wanted, merged);
        if (!both) return both.error().reason();
        std::string out;
        for (const std::string& each : *both) cat_to(out, cat(out.empty() ? "" : " ", each));
        return out;
    }
    std::size_t ops_of(const Value& wanted) {
        doc.commit();
        EXPECT_EQ(revise(wanted), "");
        return static_cast<std::size_t>(doc.commit().span.size());
    }

    std::optional<crdt::Doc> shown;
};

BlockSchema revised_fields() {
    return MapSchema{{Field{.name = "name"}, Field{.name = "level", .type = FieldType::number},
                      Field{.name = "visits", .type = FieldType::counter},
                      Field{.name = "tags", .type = FieldType::list},
                      Field{.name = "origin", .read_only = true}}};
}

BlockSchema revised_tasks() {
    return ListSchema{
        .item_schema = BlockSchema(
            MapSchema{{Field{.name = "title"}, Field{.name = "done", .type = FieldType::boolean},
                       Field{.name = "id", .type = FieldType::number, .read_only = true}}}),
        .max_items = 4};
}
Value task(std::string_view title, bool done = false) {
    return Map{{"title", title}, {"done", done}};
}

// Puts all of a value into an empty block, as its source.
void fill(MemoryDesk& desk, const BlockSchema& schema, const std::string& section,
          const Value& value) {
    MemoryEdit edit = desk.edit("system:test");
    if (schema.as<TextSchema>() != nullptr) {
        ASSERT_TRUE(edit.set_text(section, value.as_string()));
    } else if (schema.as<MapSchema>() != nullptr) {
        for (const auto& [key, each] : value.as_map())
            ASSERT_TRUE(edit.set_field({section, key}, each));
    } else if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const auto& each : composite->sections) {
            const std::string inner = section.empty() ? each.name : cat(section, "/", each.name);
            if (const Value* inside = value.get(each.name))
                fill(desk, *each.schema, inner, *inside);
        }
    } else {
        for (const Value& each : value.as_list()) ASSERT_TRUE(edit.append(section, each));
    }
}

// The nearest to `after` that a person can make of a block: entries of a Log stay, with new ones
// behind them, and so does a read-only field that they do not name.
Value reachable(const BlockSchema& schema, const Value& before, const Value& after) {
    if (schema.as<LogSchema>() != nullptr) {
        List out = before.as_list();
        out.insert(out.end(), after.as_list().begin(), after.as_list().end());
        return out;
    }
    Map out;
    if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) {
            const Value* value = after.get(each.name);
            if (value == nullptr && each.read_only) value = before.get(each.name);
            if (value != nullptr) out.append(each.name, *value);
        }
        return out;
    }
    const auto* composite = schema.as<CompositeSchema>();
    if (composite == nullptr) return after;
    for (const auto& each : composite->sections) {
        out.append(each.name,
                   reachable(*each.schema, *before.get(each.name), *after.get(each.name)));
    }
    return out;
}

TEST(Revision, TurnsAnyBlockIntoAnyOtherOfItsSchema) {
    int made = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE(seed);
        SchemaMaker make(seed);
        Table table(make.schema());
        fill(table, table.block.schema, "", make.value(table.block.schema));
        table.show();
        const Value before = table.value();
        EXPECT_EQ(table.ops_of(before), 0U);
        MemoryDesk other(table.block.schema);
        fill(other, other.block.schema, "", make.value(other.block.schema));
        const Value wanted = reachable(table.block.schema, before, other.value());
        const auto& list = table.block.schema;
        if (const auto* items = list.as<ListSchema>()) {
            if (items->max_items && items->max_items < before.as_list().size() + 1) continue;
        }

        const std::string both = table.revise(wanted, writer("system:test"));

        if (both == "max_items" || both == "schema_mismatch") continue;  // Set, and required.
        ASSERT_EQ(both, "");
        ASSERT_EQ(table.value(), wanted);
        ++made;
    }
    EXPECT_GT(made, 250);
}

TEST(Revision, KeepsOthersChanges) {
    Table table(revised_fields());
    ASSERT_TRUE(table.edit("system:s").set_field({"", "origin"}, "web"));
    ASSERT_TRUE(table.edit().set_field({"", "visits"}, 5));
    ASSERT_TRUE(table.edit().set_field({"", "tags"}, List{"a", "b", "c"}));
    ASSERT_TRUE(table.edit().set_field({"", "level"}, 1));
    table.show();
    ASSERT_TRUE(table.edit().set_field({"", "name"}, "Ada"));
    ASSERT_TRUE(table.edit().increment_counter({"", "visits"}, 10));
    ASSERT_TRUE(table.edit().append_to_list({"", "tags"}, "d"));
    ASSERT_TRUE(table.edit().remove_from_list({"", "tags"}, 0));

    EXPECT_EQ(table.revise(Map{{"level", 2}, {"visits", 6}, {"tags", List{"x", "a", "c", "y"}}}),
              "visits");

    EXPECT_EQ(table.value(), Value(Map{{"name", "Ada"},
                                       {"level", 2},
                                       {"visits", 16},
                                       {"tags", List{"x", "c", "d", "y"}},
                                       {"origin", "web"}}));
}

TEST(Revision, ReportsPlacesThatOthersChangedToo) {
    Table table(revised_fields());
    ASSERT_TRUE(table.edit().set_field({"", "level"}, 1));
    ASSERT_TRUE(table.edit().set_field({"", "name"}, "Ada"));
    table.show();
    ASSERT_TRUE(table.edit().set_field({"", "level"}, 2));
    ASSERT_TRUE(table.edit().set_field({"", "name"}, "Ada L."));

    EXPECT_EQ(table.revise(Map{{"level", 3}, {"name", "clash"}}), "name level");
    EXPECT_EQ(table.value().get("level")->as_int(), 3);
    EXPECT_EQ(table.value().get("name")->as_string(), "<Ada|Ada L.|clash>");
    // Equal changes on both sides lose nothing.
    EXPECT_EQ(table.revise(Map{{"level", 3}, {"name", "<Ada|Ada L.|clash>"}}), "");
}

// A sum that is nobody's number is told, also where both wrote the same one.
TEST(Revision, ReportsACounterThatOthersChangedToo) {
    Table table(revised_fields());
    ASSERT_TRUE(table.edit().set_field({"", "visits"}, 5));
    table.show();
    EXPECT_EQ(table.revise(Map{{"visits", 6}}), "");
    table.show();
    ASSERT_TRUE(table.edit().set_field({"", "visits"}, 7));

    EXPECT_EQ(table.revise(Map{{"visits", 7}}), "visits");
    EXPECT_EQ(table.value().get("visits")->as_int(), 8);
}

TEST(Revision, ARefusalNamesItsPlace) {
    const auto place = [](Table& table, const Value& wanted) {
        MemoryEdit edit(table.doc, table.block, writer("human:tom"), table.now_ms);
        const auto made = revise(edit, {*table.shown, table.block.schema}, wanted, merged);
        return made ? Value() : *made.error().details().find("at");
    };
    const auto at = [](std::string_view section, std::string_view name = {}, Value what = {}) {
        Map out{{"section", section}};
        if (!name.empty()) out.append(std::string(name), std::move(what));
        return Value(std::move(out));
    };
    Table map(revised_fields());
    map.show();
    EXPECT_EQ(place(map, Map{{"name", "a"}, {"origin", "b"}}), at("", "field", "origin"));
    EXPECT_EQ(place(map, Map{{"nmae", "a"}}), at("", "field", "nmae"));
    EXPECT_EQ(place(map, "a"), at(""));

    Table list(revised_tasks());
    ASSERT_TRUE(list.edit().push_item("", task("tea")));
    list.show();
    EXPECT_EQ(place(list, List{task("tea"), Map{{"title", 1}}}), at("", "index", 1));
    EXPECT_EQ(place(list, List{Map{{"title", "tea"}, {"done", false}, {"id", 1}}}),
              at("", "index", 0));

    const BlockSchema log = LogSchema{};
    Table sections(CompositeSchema{{{"log", log}, {"notes", BlockSchema(), "", true}}});
    ASSERT_TRUE(sections.edit("system:s").append_entry("log", "woke"));
    sections.show();
    EXPECT_EQ(place(sections, Map{{"log", List()}}), at("log", "index", 0));
    EXPECT_EQ(place(sections, Map{{"notes", "a"}}), at("notes"));
    EXPECT_EQ(place(sections, Map{{"nots", "a"}}), at("nots"));
}

TEST(Revision, ItemsAreThoseThatTheyWere) {
    Table table(revised_tasks());
    for (const char* title : {"tea", "code", "sleep"}) {
        ASSERT_TRUE(
            table.edit("system:s")
                .push_item("", Map{{"title", title}, {"done", false}, {"id", title[0] - 'a'}}));
    }
    table.show();
    const Value before = table.value();
    ASSERT_TRUE(table.edit().set_item_field("", 1, "done", true));
    ASSERT_TRUE(table.edit().delete_item("", 0));
    ASSERT_TRUE(table.edit().push_item("", task("wake")));
    // A person takes nothing away, renames the second, and adds one in front and one behind.
    List wanted = before.as_list();
    wanted[1].as_map().set("title", "test");
    wanted.insert(wanted.begin() + 1, task("milk"));

    EXPECT_EQ(table.revise(wanted), "");

    const Value after = table.value();
    ASSERT_EQ(after.as_list().size(), 4U);
    EXPECT_EQ(after.as_list()[0], task("milk"));
    EXPECT_EQ(after.as_list()[1], Value(Map{{"title", "test"}, {"done", true}, {"id", 2}}));
    EXPECT_EQ(*after.as_list()[2].get("title"), Value("sleep"));
    EXPECT_EQ(after.as_list()[3], task("wake"));
}

TEST(Revision, ARemovedItemIsNotTakenForTheNextOne) {
    Table table(revised_tasks());
    for (const std::int64_t id : {1, 2, 3})
        ASSERT_TRUE(table.edit("system:s").push_item("", Map{{"title", cat("t", id)}, {"id", id}}));
    table.show();
    List wanted = table.value().as_list();
    wanted.erase(wanted.begin());
    wanted[0].as_map().set("done", true);

    // Else the read-only ids would change, and it would be refused.
    EXPECT_EQ(table.revise(wanted), "");
    EXPECT_EQ(table.value(), Value(wanted));
    wanted[0].as_map().set("id", 9);
    table.show();
    EXPECT_EQ(table.revise(wanted), "read_only_field");
}

TEST(Revision, AnItemThatOthersTookOutComesBackAsItWasEdited) {
    Table table(revised_tasks());
    ASSERT_TRUE(table.edit().push_item("", task("tea")));
    ASSERT_TRUE(table.edit().push_item("", task("code")));
    table.show();
    ASSERT_TRUE(table.edit().delete_item("", 0));

    EXPECT_EQ(table.revise(List{task("tea", true), task("code")}), "items[0]");
    EXPECT_EQ(table.value(), Value(List{task("tea", true), task("code")}));
}

TEST(Revision, EntriesOfALogStayAsTheyAre) {
    Table table(LogSchema{});
    ASSERT_TRUE(table.edit().append_entry("", "woke"));
    table.show();
    const List before = table.value().as_list();
    List wanted = before;
    wanted.emplace_back(Map{{"message", "slept"}});

    EXPECT_EQ(table.revise(wanted), "");
    const Value after = table.value();
    EXPECT_EQ(*after.as_list().at(1).get("agent_id"), Value("human:tom"));
    EXPECT_EQ(table.revise(List()), "log_entry");
    wanted[0].as_map().set("message", "dreamt");
    EXPECT_EQ(table.revise(wanted), "log_entry");
}

TEST(Revision, TextsArePutTogether) {
    Table table{TextSchema{}};
    ASSERT_TRUE(table.edit().set_text("", "one\n"));
    table.show();
    ASSERT_TRUE(table.edit().append_text("", "two\n"));

    EXPECT_EQ(table.revise("ONE\n"), "");
    EXPECT_EQ(table.value(), Value("<one\n|one\ntwo\n|ONE\n>"));
}

// An actor who may only append can do so, even if the block has changed since.
TEST(Revision, AddingNeedsNoMoreThanAddingNeeds) {
    const Writer adds = writer("human:tom", Permission::append);
    Table text{TextSchema{}};
    ASSERT_TRUE(text.edit().set_text("", "one\n"));
    text.show();
    EXPECT_EQ(text.revise("ONE\n", adds), "permission_denied");
    EXPECT_EQ(text.revise("one\ntwo\n", adds), "");
    EXPECT_EQ(text.value(), Value("one\ntwo\n"));

    Table list(revised_tasks());
    ASSERT_TRUE(list.edit().push_item("", task("tea")));
    list.show();
    EXPECT_EQ(list.revise(List{task("tea"), task("code")}, adds), "");
    EXPECT_EQ(list.revise(List{task("code")}, adds), "permission_denied");
    EXPECT_EQ(list.value(), Value(List{task("tea"), task("code")}));
}

TEST(Revision, PassesTheGate) {
    Table table(revised_fields());
    ASSERT_TRUE(table.edit("system:s").set_field({"", "origin"}, "web"));
    table.show();
    EXPECT_EQ(table.revise(Map{{"origin", "me"}}), "read_only_field");
    EXPECT_EQ(table.revise(Map{{"origin", "web"}}), "");
    EXPECT_EQ(table.revise(Map{{"colour", "red"}}), "field_not_found");
    EXPECT_EQ(table.revise(Map{{"level", "red"}}), "schema_mismatch");
    EXPECT_EQ(table.revise("text"), "schema_mismatch");

    Table list(revised_tasks());
    list.show();
    EXPECT_EQ(list.revise(List(5, task("tea"))), "max_items");

    Table sections(CompositeSchema{{{.name = "state", .schema = BlockSchema(), .read_only = true},
                                    {.name = "notes", .schema = BlockSchema()}}});
    sections.show();
    EXPECT_EQ(sections.revise(Map{{"state", "broken"}}), "read_only_section");
    EXPECT_EQ(sections.revise(Map{{"notes", "a"}}), "");
    EXPECT_EQ(sections.revise(Map{{"other", "a"}}), "section_not_found");
}

}  // namespace
}  // namespace quire::memory
