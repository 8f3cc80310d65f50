// Replicas of one block, edited apart: what each did is there when they meet, and they end alike.
#include <functional>

#include "crdt/doc/counter.h"
#include "crdt/doc/history.h"
#include "memory/clear.h"
#include "memory/incoming.h"
#include "memory/memory_desk_for_test.h"
#include "memory/random_schema_for_test.h"
#include "memory/templates.h"

namespace quire::memory {
namespace {

struct Pair {
    explicit Pair(const BlockSchema& schema) : a(schema, 1), b(schema, 2) {}
    void meet() {
        a.meet(b);
        EXPECT_EQ(a.value(), b.value());
    }
    MemoryDesk a;
    MemoryDesk b;
};

TEST(Replicas, ThatBeginABlockAtOnceMeet) {
    for (const Template& each : templates()) {
        Pair pair(each.schema);
        for (MemoryDesk* desk : {&pair.a, &pair.b}) {
            MemoryEdit edit = desk->edit();
            if (each.name == "partner_profile") {
                ASSERT_TRUE(edit.set_field({"", "name"}, "Ada").has_value());
                ASSERT_TRUE(edit.append_to_list({"", "preferences"}, "tea").has_value());
                ASSERT_TRUE(edit.increment_counter({"", "energy_level"}, 1).has_value());
            } else if (each.name == "task_list") {
                ASSERT_TRUE(edit.append("", Map{{"title", "a"}}).has_value());
            } else if (each.name == "activity_log") {
                ASSERT_TRUE(
                    edit.append("", Map{{"event_type", "note"}, {"description", "x"}}).has_value());
            } else {
                ASSERT_TRUE(edit.append("", "x").has_value());
            }
        }
        pair.meet();
        const Value value = pair.a.value();
        if (each.name == "partner_profile") {
            EXPECT_EQ(value, Value(Map{{"name", "Ada"},
                                       {"preferences", List{"tea", "tea"}},
                                       {"energy_level", 6}}));
        } else if (value.is_string()) {
            EXPECT_EQ(value, Value("xx"));
        } else {
            EXPECT_EQ(value.as_list().size(), 2U);
        }
    }
}

TEST(Replicas, TwoFieldsOfOneItemBothSurvive) {
    Pair pair(find_template("task_list")->schema);
    ASSERT_TRUE(pair.a.edit().push_item("", Map{{"title", "a"}}).has_value());
    pair.meet();
    ASSERT_TRUE(pair.a.edit().set_item_field("", 0, "done", true).has_value());
    ASSERT_TRUE(pair.b.edit()
                    .set_item("", 0, Map{{"title", "a"}, {"done", false}, {"priority", "high"}})
                    .has_value());
    pair.meet();
    EXPECT_EQ(pair.a.value(),
              Value(List{Map{{"title", "a"}, {"done", true}, {"priority", "high"}}}));
}

TEST(Replicas, DifferentFieldsBothSurviveAndCountersAdd) {
    Pair pair(MapSchema{{{.name = "x"},
                         {.name = "y"},
                         {.name = "n", .type = FieldType::counter, .default_value = 10},
                         {.name = "l", .type = FieldType::list}}});
    ASSERT_TRUE(pair.a.edit().set_field({"", "l"}, List{"a", "b", "c"}).has_value());
    pair.meet();
    ASSERT_TRUE(pair.a.edit().set_field({"", "x"}, "1").has_value());
    ASSERT_TRUE(pair.b.edit().set_field({"", "y"}, "2").has_value());
    ASSERT_TRUE(pair.a.edit().set_field({"", "n"}, 15).has_value());
    ASSERT_TRUE(pair.b.edit().increment_counter({"", "n"}, -2).has_value());
    ASSERT_TRUE(pair.a.edit().set_field({"", "l"}, List{"a", "c"}).has_value());
    ASSERT_TRUE(pair.b.edit().set_field({"", "l"}, List{"a", "b", "c", "d"}).has_value());
    pair.meet();
    EXPECT_EQ(pair.a.value(),
              Value(Map{{"x", "1"}, {"y", "2"}, {"n", 13}, {"l", List{"a", "c", "d"}}}));
}

// Our own additions are bounded; those of other programs need not be.
TEST(Replicas, ABlockWhoseCounterOverflowedIsCleared) {
    const BlockSchema schema = MapSchema{{{.name = "n", .type = FieldType::counter}}};
    MemoryDesk desk(schema);
    const crdt::Handle counter =
        desk.doc.open(crdt::ContainerId::root("root/n", crdt::ContainerKind::counter));
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(desk.doc.counter(counter).add(1.5e308).has_value());
    desk.doc.commit();

    clear(desk.doc, schema);

    EXPECT_TRUE(desk.doc.pending().empty());  // Nothing that is added brings it back.
}

TEST(Replicas, AppendingToADefaultDoesNotDoubleIt) {
    Pair pair(MapSchema{{{.name = "l", .type = FieldType::list, .default_value = List{"first"}}}});
    ASSERT_TRUE(pair.a.edit().append_to_list({"", "l"}, "a").has_value());
    ASSERT_TRUE(pair.b.edit().append_to_list({"", "l"}, "b").has_value());
    pair.meet();
    const List list = pair.a.value().get("l")->as_list();
    EXPECT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0], Value("first"));
}

TEST(Replicas, ALongTextIsMergedByCharacter) {
    Pair pair(MapSchema{{{.name = "notes"}}});
    ASSERT_TRUE(pair.a.edit().set_text_field({"", "notes"}, "one two three").has_value());
    pair.meet();
    ASSERT_TRUE(pair.a.edit().set_field({"", "notes"}, "ONE two three").has_value());
    ASSERT_TRUE(pair.b.edit().set_text_field({"", "notes"}, "one two THREE").has_value());
    pair.meet();
    EXPECT_EQ(*pair.a.value().get("notes"), Value("ONE two THREE"));
}

// Random writes on random schemas. All that both do is offered through the check first: what was
// written here is never refused there.
class Scribbler {
public:
    Scribbler(SchemaMaker& maker, MemoryDesk& desk) : maker_(maker), desk_(desk) {}

    void write() { write_in(desk_.block.schema, ""); }

private:
    void write_in(const BlockSchema& schema, const std::string& section) {
        MemoryEdit edit = desk_.edit(maker_.chance(2) ? "system:test" : "agent:ada");
        if (const auto* composite = schema.as<CompositeSchema>()) {
            const Section& into = composite->sections[maker_.below(composite->sections.size())];
            write_in(*into.schema, section.empty() ? into.name : cat(section, "/", into.name));
        } else if (schema.as<TextSchema>() != nullptr) {
            maker_.chance(2) ? ignore(edit.set_text(section, maker_.word()))
                             : ignore(edit.append_text(section, maker_.word()));
        } else if (const auto* map = schema.as<MapSchema>()) {
            write_field(edit, section, map->fields[maker_.below(map->fields.size())]);
        } else if (const auto* list = schema.as<ListSchema>()) {
            write_item(edit, section, *list);
        } else {
            const List values = maker_.value(schema).as_list();
            if (!values.empty()) ignore(edit.append_entry(section, values[0]));
        }
    }

    void write_field(MemoryEdit& edit, const std::string& section, const Field& field) {
        const FieldPath path{section, field.name};
        const auto index = static_cast<std::int64_t>(maker_.below(4));
        switch (maker_.below(6)) {
            case 0:
                return ignore(edit.append_to_list(path, maker_.word()));
            case 1:
                return ignore(edit.insert_into_list(path, index, maker_.json(1)));
            case 2:
                return ignore(edit.remove_from_list(path, index));
            case 3:
                return ignore(edit.increment_counter(path, index - 2));
            case 4:
                return ignore(edit.set_field(path, maker_.chance(3) ? Value() : maker_.word()));
            default:
                return ignore(edit.set_field(path, maker_.value_for(field.type)));
        }
    }

    void write_item(MemoryEdit& edit, const std::string& section, const ListSchema& list) {
        const auto index = static_cast<std::int64_t>(maker_.below(4));
        const List values = maker_.value(BlockSchema(list)).as_list();
        const Value item = values.empty() ? Value("x") : values[0];
        switch (maker_.below(5)) {
            case 0:
                return ignore(edit.insert_item(section, index, item));
            case 1:
                return ignore(edit.set_item(section, index, item));
            case 2:
                return ignore(edit.delete_item(section, index));
            case 3:
                if (!item.is_map() || item.as_map().empty()) return;
                return ignore(edit.set_item_field(section, index, item.as_map().begin()->key,
                                                  item.as_map().begin()->value));
            default:
                return ignore(edit.push_item(section, item));
        }
    }

    // Refused or not: a random write may be either, and must leave a valid block.
    template <class T>
    void ignore(const Result<T>&) {}

    SchemaMaker& maker_;
    MemoryDesk& desk_;
};

TEST(Replicas, RandomBlocksConverge) {
    std::size_t ops = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SchemaMaker maker(seed);
        BlockSchema schema = maker.schema();
        Pair pair(schema);
        for (int round = 0; round < 4; ++round) {
            for (MemoryDesk* desk : {&pair.a, &pair.b}) {
                const std::size_t count = maker.below(6);
                for (std::size_t i = 0; i < count; ++i) Scribbler(maker, *desk).write();
                desk->doc.commit();
            }
            pair.meet();
            ASSERT_EQ(pair.a.doc.value(), pair.b.doc.value()) << "seed " << seed;
        }
        ops += pair.a.doc.history().op_count();
        MemoryDesk empty(schema, 3);
        const auto allowed = check_incoming(empty.doc, empty.block, writer("system:test"),
                                            pair.a.doc.changes_since({}).changes());
        ASSERT_TRUE(allowed.has_value() || allowed.error().reason() == "max_items")
            << "seed " << seed << ": " << allowed.error().message();
    }
    EXPECT_GT(ops, 2000U);
}

}  // namespace
}  // namespace quire::memory
