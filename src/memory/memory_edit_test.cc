#include "memory/memory_edit.h"

#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "memory/memory_desk_for_test.h"
#include "memory/templates.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

BlockSchema profile() {
    return MapSchema{
        {{.name = "name", .required = true},
         {.name = "tags", .type = FieldType::list, .default_value = List{"new"}},
         {.name = "energy", .type = FieldType::counter, .default_value = 5},
         {.name = "age", .type = FieldType::number},
         {.name = "awake", .type = FieldType::boolean, .required = true, .default_value = true},
         {.name = "seen", .type = FieldType::timestamp},
         {.name = "notes"},
         {.name = "plain", .type = FieldType::list}}};
}

BlockSchema tasks() {
    return find_template("task_list")->schema;
}

// --- Text ---

TEST(MemoryText, IsSetAppendedToAndReplacedIn) {
    MemoryDesk desk{BlockSchema()};
    ASSERT_TRUE(desk.edit().set_text("", "one two one").has_value());
    ASSERT_TRUE(desk.edit().append_text("", " naïve").has_value());
    EXPECT_EQ(desk.edit().replace_text("", "one", "1").value(), 2U);
    EXPECT_EQ(desk.value(), Value("1 two 1 naïve"));
    EXPECT_EQ(desk.doc.value(), Value(Map{{"content", "1 two 1 naïve"}}));
}

TEST(MemoryText, AReplacementThatFindsNothingSaysSo) {
    MemoryDesk desk{BlockSchema()};
    ASSERT_TRUE(desk.edit().set_text("", "one").has_value());
    EXPECT_EQ(reason(desk.edit().replace_text("", "two", "2")), "no_match");
    EXPECT_EQ(reason(desk.edit().replace_text("", "", "2")), "empty_find");
    EXPECT_EQ(reason(desk.edit().replace_text("", "one", "\xFF")), "schema_mismatch");
    EXPECT_EQ(desk.value(), Value("one"));
}

TEST(MemoryText, OccurrencesDoNotOverlap) {
    MemoryDesk desk{BlockSchema()};
    ASSERT_TRUE(desk.edit().set_text("", "aaaaa").has_value());
    EXPECT_EQ(desk.edit().replace_text("", "aa", "b").value(), 2U);
    EXPECT_EQ(desk.value(), Value("bba"));
    EXPECT_EQ(desk.edit().replace_text("", "b", "bb").value(), 2U);
    EXPECT_EQ(desk.value(), Value("bbbba"));
}

TEST(MemoryText, IsNoLongerThanItMayBe) {
    MemoryDesk desk{BlockSchema()};
    desk.block.char_limit = 5;
    EXPECT_EQ(reason(desk.edit().set_text("", "naïves")), "char_limit");
    EXPECT_EQ(reason(desk.edit().set_text("", "naïve")), "fine");
    EXPECT_EQ(reason(desk.edit().append_text("", "s")), "char_limit");
    EXPECT_EQ(reason(desk.edit().replace_text("", "a", "aa")), "char_limit");
    EXPECT_EQ(reason(desk.edit().replace_text("", "ï", "i")), "fine");
    EXPECT_EQ(desk.value(), Value("naive"));
}

// --- fields ---

TEST(MemoryFields, AnUnsetFieldReadsAsItsDefault) {
    MemoryDesk desk(profile());
    EXPECT_EQ(desk.value(), Value(Map{{"tags", List{"new"}}, {"energy", 5}, {"awake", true}}));
    EXPECT_EQ(desk.reader().field({"", "name"}).value(), std::nullopt);
    EXPECT_EQ(desk.reader().missing(), (std::vector<FieldPath>{{"", "name"}}));
    EXPECT_EQ(reason(desk.reader().field({"", "nowhere"})), "field_not_found");
    EXPECT_EQ(desk.doc.value(), Value(Map{}));  // Reading makes nothing.
}

TEST(MemoryFields, EachTypeIsSetReadAndUnset) {
    const struct {
        const char* field;
        Value value;
        std::optional<Value> unset;
    } cases[] = {{"tags", List{"a", 1, Map{{"k", List{}}}}, List{"new"}},
                 {"tags", List{}, List{"new"}},
                 {"energy", 7, 5},
                 {"energy", -2.5, 5},
                 {"age", 41, std::nullopt},
                 {"age", 1.5, std::nullopt},
                 {"awake", false, true},
                 {"seen", "2025-01-23", std::nullopt},
                 {"notes", "short", std::nullopt},
                 {"notes", std::string(kLongText + 1, 'x'), std::nullopt},
                 {"notes", "", std::nullopt},
                 {"plain", List{}, std::nullopt},
                 {"plain", List{1}, std::nullopt}};
    for (const auto& each : cases) {
        MemoryDesk desk(profile());
        const FieldPath path{"", each.field};
        ASSERT_TRUE(desk.edit().set_field(path, each.value).has_value()) << each.field;
        EXPECT_EQ(desk.reader().field(path).value(), each.value) << each.field;
        ASSERT_TRUE(desk.edit().set_field(path, nullptr).has_value()) << each.field;
        EXPECT_EQ(desk.reader().field(path).value(), each.unset) << each.field;
    }
}

TEST(MemoryFields, ARequiredFieldWithoutADefaultStaysSet) {
    MemoryDesk desk(profile());
    ASSERT_TRUE(desk.edit().set_field({"", "name"}, "Ada").has_value());
    const auto unset = desk.edit().set_field({"", "name"}, nullptr);
    ASSERT_FALSE(unset);
    EXPECT_EQ(unset.error().message(), "Schema mismatch: expected Text, got null");
    EXPECT_EQ(desk.reader().field({"", "name"}).value(), Value("Ada"));
}

TEST(MemoryFields, TheWrongTypeChangesNothing) {
    MemoryDesk desk(profile());
    EXPECT_EQ(reason(desk.edit().set_field({"", "age"}, "41")), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_field({"", "tags"}, "a")), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_field({"", "energy"}, List{})), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_field({"", "nowhere"}, 1)), "field_not_found");
    EXPECT_EQ(reason(desk.edit().set_text_field({"", "age"}, "x")), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_text_field({"", "notes"}, "\xFF")), "schema_mismatch");
    EXPECT_TRUE(desk.doc.pending().empty());
}

TEST(MemoryFields, AValueIsNoLongerThanItMayBe) {
    MemoryDesk desk(profile());
    desk.block.char_limit = 3;
    EXPECT_EQ(reason(desk.edit().set_field({"", "notes"}, "four")), "char_limit");
    EXPECT_EQ(reason(desk.edit().set_text_field({"", "notes"}, "four")), "char_limit");
    EXPECT_EQ(reason(desk.edit().set_field({"", "plain"}, List{"ab", "cd"})), "char_limit");
    EXPECT_EQ(reason(desk.edit().append_to_list({"", "plain"}, "four")), "char_limit");
    EXPECT_EQ(reason(desk.edit().insert_into_list({"", "plain"}, 0, "four")), "char_limit");
    EXPECT_TRUE(desk.doc.pending().empty());
}

TEST(MemoryFields, ALongTextBecomesATextContainer) {
    MemoryDesk desk(profile());
    ASSERT_TRUE(desk.edit().set_field({"", "notes"}, "short").has_value());
    EXPECT_EQ(desk.doc.value(), Value(Map{{"root", Map{{"notes", "short"}}}}));
    ASSERT_TRUE(desk.edit().set_text_field({"", "notes"}, "longer").has_value());
    ASSERT_TRUE(desk.edit().set_field({"", "notes"}, "longest").has_value());
    EXPECT_EQ(desk.doc.value(),
              Value(Map{{"root", Map{{"notes", nullptr}}}, {"root/notes", "longest"}}));
    EXPECT_EQ(desk.reader().field({"", "notes"}).value(), Value("longest"));
}

TEST(MemoryFields, SettingACounterIsTheDifference) {
    MemoryDesk desk(profile());
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, 2).value(), Value(7));
    ASSERT_TRUE(desk.edit().set_field({"", "energy"}, 10).has_value());
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, -2).value(), Value(8));
    EXPECT_EQ(desk.doc.value(), Value(Map{{"root/energy", 3.0}}));
}

TEST(MemoryFields, ANumberIsIncrementedAndOtherTypesAreNot) {
    MemoryDesk desk(profile());
    EXPECT_EQ(desk.edit().increment_counter({"", "age"}, 2).value(), Value(2));
    EXPECT_EQ(desk.edit().increment_counter({"", "age"}, 0.5).value(), Value(2.5));
    EXPECT_EQ(desk.edit().increment_counter({"", "age"}, 0.5).value(), Value(3));
    const auto refused = desk.edit().increment_counter({"", "notes"}, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), "Schema mismatch: expected Counter, got Text");
    EXPECT_EQ(reason(desk.edit().increment_counter({"", "age"}, "1")), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().increment_counter({"", "nowhere"}, 1)), "field_not_found");
}

TEST(MemoryFields, WholeNumbersThatWouldRoundAreNotCounted) {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    MemoryDesk desk(profile());  // energy is 5, age is not there.
    for (const char* field : {"energy", "age"}) {
        EXPECT_EQ(reason(desk.edit().increment_counter({"", field}, 1e17)), "out_of_range")
            << field;
        EXPECT_EQ(reason(desk.edit().increment_counter({"", field}, -1e17)), "out_of_range");
    }
    EXPECT_EQ(desk.reader().field({"", "energy"}).value(), Value(5));
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, kMost - 5).value(), Value(kMost));
    // The sum of doubles would be 2^53 again.
    EXPECT_EQ(reason(desk.edit().increment_counter({"", "energy"}, 1)), "out_of_range");
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, -1).value(), Value(kMost - 1));
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, 1).value(), Value(kMost));
    EXPECT_EQ(reason(desk.edit().set_field({"", "energy"}, kMost + 2)), "out_of_range");
    EXPECT_EQ(reason(desk.edit().set_field({"", "energy"}, -kMost)), "out_of_range");
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, -kMost).value(), Value(0));
    // -2^53 would be 5 and a sum that is no double.
    EXPECT_EQ(reason(desk.edit().increment_counter({"", "energy"}, -kMost)), "out_of_range");
    EXPECT_EQ(desk.edit().increment_counter({"", "energy"}, 5 - kMost).value(), Value(5 - kMost));
    EXPECT_EQ(desk.reader().field({"", "energy"}).value(), Value(5 - kMost));
    EXPECT_EQ(reason(desk.edit().increment_counter({"", "energy"}, -6)), "out_of_range");
    EXPECT_EQ(desk.edit().increment_counter({"", "age"}, -kMost).value(), Value(-kMost));
    EXPECT_EQ(reason(desk.edit().increment_counter({"", "age"}, -1)), "out_of_range");
    // A change with a fraction adds as doubles do.
    EXPECT_EQ(desk.edit().increment_counter({"", "age"}, -0.5).value(), Value(-kMost));
}

TEST(MemoryFields, ACounterIsSetExactly) {
    MemoryDesk desk(profile());
    ASSERT_TRUE(desk.edit().increment_counter({"", "energy"}, 1e15).has_value());
    ASSERT_TRUE(desk.edit().set_field({"", "energy"}, 5.1).has_value());
    ASSERT_TRUE(desk.edit().set_field({"", "energy"}, 5.3).has_value());
    EXPECT_EQ(desk.reader().field({"", "energy"}).value(), Value(5.3));
}

// --- List fields ---

TEST(MemoryListField, GrowsAfterItsDefaultUntilThatIsTouched) {
    MemoryDesk desk(profile());
    const FieldPath tags{"", "tags"};
    ASSERT_TRUE(desk.edit().append_to_list(tags, "b").has_value());
    EXPECT_EQ(desk.reader().field(tags).value(), Value(List{"new", "b"}));
    ASSERT_TRUE(desk.edit().insert_into_list(tags, 1, "a").has_value());
    EXPECT_EQ(desk.reader().field(tags).value(), Value(List{"new", "a", "b"}));
    EXPECT_EQ(desk.doc.value(), Value(Map{{"root/tags", List{"a", "b"}}}));
    EXPECT_EQ(desk.edit().remove_from_list(tags, 0).value(), Value("new"));
    EXPECT_EQ(desk.reader().field(tags).value(), Value(List{"a", "b"}));
    EXPECT_EQ(desk.edit().remove_from_list(tags, 1).value(), Value("b"));
    ASSERT_TRUE(desk.edit().insert_into_list(tags, 0, "z").has_value());
    EXPECT_EQ(desk.reader().field(tags).value(), Value(List{"z", "a"}));
}

TEST(MemoryListField, SettingItAndAppendingToItMeanTheSameList) {
    MemoryDesk desk(profile());
    const FieldPath plain{"", "plain"};
    ASSERT_TRUE(desk.edit().set_field(plain, List{"a", "b"}).has_value());
    ASSERT_TRUE(desk.edit().append_to_list(plain, "c").has_value());
    EXPECT_EQ(desk.reader().field(plain).value(), Value(List{"a", "b", "c"}));
}

TEST(MemoryListField, SettingItKeepsTheElementsThatStay) {
    MemoryDesk desk(profile());
    const FieldPath plain{"", "plain"};
    ASSERT_TRUE(desk.edit().set_field(plain, List{"a", "b", "c", "d"}).has_value());
    const crdt::Handle list = desk.doc.open(value_of("", *desk.block.schema.field("plain")));
    const crdt::OpId c = desk.doc.list(list).id(2);
    ASSERT_TRUE(desk.edit().set_field(plain, List{"x", "a", "c", Map{{"k", 1}}}).has_value());
    EXPECT_EQ(desk.doc.list(list).index_of(c), 2U);
    EXPECT_EQ(desk.reader().field(plain).value(), Value(List{"x", "a", "c", Map{{"k", 1}}}));
}

TEST(MemoryListField, AnIndexBeyondItsEndSaysHowManyThereAre) {
    MemoryDesk desk(profile());
    for (const std::int64_t index : {-1, 1, 99}) {
        const auto refused = desk.edit().remove_from_list({"", "tags"}, index);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), Errc::out_of_range);
        EXPECT_EQ(refused.error().reason(), "index_out_of_bounds");
        EXPECT_EQ(refused.error().details(), (Map{{"index", index}, {"len", 1}}));
    }
    EXPECT_EQ(reason(desk.edit().insert_into_list({"", "tags"}, 2, "x")), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().insert_into_list({"", "tags"}, -1, "x")), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().append_to_list({"", "name"}, "x")), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().append_to_list({"", "plain"}, Bytes{1})), "schema_mismatch");
    EXPECT_TRUE(desk.doc.pending().empty());
}

TEST(MemoryListField, AnElementIsSetInPlaceOfADefaultAndOfAnElement) {
    MemoryDesk desk(profile());
    const FieldPath tags{"", "tags"};
    ASSERT_TRUE(desk.edit().append_to_list(tags, Map{{"k", 1}}));
    // An equal element is left alone.
    desk.doc.commit();
    ASSERT_TRUE(desk.edit().set_in_list(tags, 0, "new"));
    ASSERT_TRUE(desk.edit().set_member_in_list(tags, 1, "k", 1));
    EXPECT_TRUE(desk.doc.pending().empty());

    ASSERT_TRUE(desk.edit().set_in_list(tags, 0, "old"));
    ASSERT_TRUE(desk.edit().set_member_in_list(tags, 1, "j", List{2}));
    ASSERT_TRUE(desk.edit().set_member_in_list(tags, 1, "k", nullptr));
    EXPECT_EQ(desk.reader().field(tags).value(), Value(List{"old", Map{{"j", List{2}}}}));

    EXPECT_EQ(reason(desk.edit().set_in_list(tags, 2, "x")), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().set_in_list(tags, -1, "x")), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().set_in_list(tags, 0, Bytes{1})), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_member_in_list(tags, 0, "k", 1)), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_in_list({"", "name"}, 0, "x")), "schema_mismatch");
}

// --- items ---

TEST(MemoryItems, ArePushedInsertedSetAndDeleted) {
    MemoryDesk desk(tasks());
    ASSERT_TRUE(desk.edit().push_item("", Map{{"title", "b"}}).has_value());
    ASSERT_TRUE(desk.edit().insert_item("", 0, Map{{"title", "a"}, {"due", nullptr}}).has_value());
    ASSERT_TRUE(desk.edit().set_item_field("", 1, "done", true).has_value());
    EXPECT_EQ(desk.value(), Value(List{Map{{"title", "a"}, {"done", false}},
                                       Map{{"title", "b"}, {"done", true}}}));
    ASSERT_TRUE(desk.edit().set_item("", 0, Map{{"title", "A"}, {"priority", "high"}}).has_value());
    EXPECT_EQ(desk.edit().delete_item("", 1).value(), Value(Map{{"title", "b"}, {"done", true}}));
    EXPECT_EQ(desk.reader().at("", 0).value(),
              Value(Map{{"title", "A"}, {"done", false}, {"priority", "high"}}));
    EXPECT_EQ(desk.reader().size().value(), 1U);
    ASSERT_TRUE(desk.edit().set_item("", 0, Map{{"title", "A"}}).has_value());
    EXPECT_EQ(desk.reader().at("", 0).value(), Value(Map{{"title", "A"}, {"done", false}}));
}

TEST(MemoryItems, MustFitTheirSchema) {
    MemoryDesk desk(tasks());
    ASSERT_TRUE(desk.edit().push_item("", Map{{"title", "a"}}).has_value());
    desk.doc.commit();
    EXPECT_EQ(reason(desk.edit().push_item("", "a")), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().push_item("", Map{{"done", true}})), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().push_item("", Map{{"title", "a"}, {"x", 1}})), "field_not_found");
    EXPECT_EQ(reason(desk.edit().set_item_field("", 0, "title", nullptr)), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_item_field("", 0, "title", 5)), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_item_field("", 0, "x", 5)), "field_not_found");
    EXPECT_EQ(reason(desk.edit().set_item("", 0, Map{{"done", true}})), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().set_item("", 1, Map{{"title", "a"}})), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().set_item_field("", -1, "title", "a")), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().delete_item("", 1)), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.edit().insert_item("", 2, Map{{"title", "a"}})), "index_out_of_bounds");
    EXPECT_EQ(reason(desk.reader().at("", 1)), "index_out_of_bounds");
    EXPECT_TRUE(desk.doc.pending().empty());
}

TEST(MemoryItems, AreNoMoreAndNoLongerThanTheyMayBe) {
    MemoryDesk desk(ListSchema{std::nullopt, 2});
    desk.block.char_limit = 3;
    EXPECT_EQ(reason(desk.edit().push_item("", "a")), "fine");
    EXPECT_EQ(reason(desk.edit().push_item("", "four")), "char_limit");
    EXPECT_EQ(reason(desk.edit().push_item("", Map{{"k", "b"}})), "fine");
    EXPECT_EQ(reason(desk.edit().push_item("", "c")), "max_items");
    EXPECT_EQ(reason(desk.edit().insert_item("", 0, "c")), "max_items");
    EXPECT_EQ(reason(desk.edit().set_item("", 0, "four")), "char_limit");
    EXPECT_EQ(reason(desk.edit().set_item_field("", 1, "k", "four")), "char_limit");
    EXPECT_EQ(reason(desk.edit().set_item_field("", 0, "k", "v")), "schema_mismatch");
    EXPECT_EQ(desk.value(), Value(List{"a", Map{{"k", "b"}}}));
}

TEST(MemoryItems, AnyKindTurnsIntoAnyOther) {
    const Value kinds[] = {"text", 5, nullptr, List{1}, Map{{"a", 1}}, Map{{"b", Map{{"c", 1}}}}};
    for (const Value& before : kinds) {
        for (const Value& after : kinds) {
            MemoryDesk desk(ListSchema{});
            ASSERT_TRUE(desk.edit().push_item("", before).has_value());
            ASSERT_TRUE(desk.edit().set_item("", 0, after).has_value());
            EXPECT_EQ(desk.value(), Value(List{after}));
        }
    }
}

TEST(MemoryItems, AnItemThatAnotherProgramWrotePlainIsEditedAsWell) {
    MemoryDesk desk(tasks());
    ASSERT_TRUE(
        desk.doc.list(desk.doc.open(items_of(""))).insert(0, Map{{"title", "a"}}).has_value());
    ASSERT_TRUE(desk.edit().set_item_field("", 0, "done", true).has_value());
    EXPECT_EQ(desk.value(), Value(List{Map{{"title", "a"}, {"done", true}}}));
}

TEST(MemoryItems, ReadOnlyMembersStayWhenAnAgentSetsTheItem) {
    MemoryDesk desk(ListSchema{
        BlockSchema(MapSchema{{{.name = "title"}, {.name = "verdict", .read_only = true}}})});
    ASSERT_TRUE(
        desk.edit("source:lsp").push_item("", Map{{"title", "a"}, {"verdict", "v"}}).has_value());
    ASSERT_TRUE(desk.edit().set_item("", 0, Map{{"title", "b"}}).has_value());
    EXPECT_EQ(desk.value(), Value(List{Map{{"title", "b"}, {"verdict", "v"}}}));
    ASSERT_TRUE(desk.edit().set_item("", 0, Map{{"title", "c"}, {"verdict", "v"}}).has_value());
    EXPECT_EQ(reason(desk.edit().set_item("", 0, Map{{"verdict", "w"}})), "read_only_field");
    ASSERT_TRUE(desk.edit("source:lsp").set_item("", 0, Map{{"title", "d"}}).has_value());
    EXPECT_EQ(desk.value(), Value(List{Map{{"title", "d"}}}));
}

// --- Log ---

TEST(MemoryLog, AnEntryGetsItsTimeAndItsWriter) {
    MemoryDesk desk(LogSchema{});
    ASSERT_TRUE(desk.edit("agent:ada").append_entry("", "hello").has_value());
    ASSERT_TRUE(desk.edit("human:tom").append_entry("", Map{{"mood", "calm"}}).has_value());
    EXPECT_EQ(
        desk.value(),
        Value(List{
            Map{{"timestamp", "2025-01-23T14:32:05Z"}, {"agent_id", "ada"}, {"message", "hello"}},
            Map{{"timestamp", "2025-01-23T14:32:05Z"},
                {"agent_id", "human:tom"},
                {"mood", "calm"}}}));
    EXPECT_EQ(desk.reader().at("", 1).value().get("mood")->as_string(), "calm");
}

TEST(MemoryLog, AnActorCannotWriteInAnothersName) {
    MemoryDesk desk(LogSchema{});
    const Value bobs = Map{{"agent_id", "bob"}, {"message", "x"}};
    const auto refused = desk.edit("agent:ada").append_entry("", bobs);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "Field 'agent_id' is read-only and cannot be modified by agent");
    EXPECT_EQ(reason(desk.edit("human:tom").append_entry("", bobs)), "read_only_field");
    EXPECT_EQ(reason(desk.edit("agent:bob").append_entry("", bobs)), "fine");
    EXPECT_EQ(reason(desk.edit("system:import").append_entry("", bobs)), "fine");
}

TEST(MemoryLog, WithoutTheHeaderThereIsNone) {
    MemoryDesk desk(LogSchema{20, {false, false, {}}});
    ASSERT_TRUE(desk.edit().append_entry("", "hello").has_value());
    EXPECT_EQ(desk.value(), Value(List{Map{{"message", "hello"}}}));
}

TEST(MemoryLog, MustFitItsSchema) {
    MemoryDesk desk(find_template("observation_log")->schema);
    EXPECT_EQ(reason(desk.edit().append_entry("", Map{{"context", "x"}})), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().append_entry("", Map{{"x", 1}})), "field_not_found");
    EXPECT_EQ(reason(desk.edit().append_entry("", 5)), "schema_mismatch");
    desk.block.char_limit = 3;
    EXPECT_EQ(reason(desk.edit().append_entry("", "four")), "char_limit");
    EXPECT_TRUE(desk.doc.pending().empty());
}

TEST(MemoryLog, IsTrimmedOnRequestToTheRetainedEntries) {
    LogSchema log;
    log.retain = Retain{3, 60};
    MemoryDesk desk(log);
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(desk.edit().append_entry("", std::to_string(i)).has_value());
        desk.now_ms += 25'000;
    }
    EXPECT_EQ(desk.reader().size().value(), 6U);
    // The limit on number drops the first three, the limit on age the one of 75 s ago.
    EXPECT_EQ(desk.edit("system:log").trim_log("").value(), 4U);
    EXPECT_EQ(desk.reader().at("", 0).value().get("message")->as_string(), "4");
    EXPECT_EQ(desk.edit("system:log").trim_log("").value(), 0U);
    MemoryDesk plain(LogSchema{});
    ASSERT_TRUE(plain.edit().append_entry("", "x").has_value());
    EXPECT_EQ(plain.edit("system:log").trim_log("").value(), 0U);
}

// --- what each write says of itself, and appending by the schema ---

TEST(MemoryAppend, GoesByTheSchema) {
    MemoryDesk desk(CompositeSchema{{{"text", BlockSchema()},
                                     {"list", BlockSchema(ListSchema{})},
                                     {"log", BlockSchema(LogSchema{})},
                                     {"map", profile()}}});
    ASSERT_TRUE(desk.edit().append("text", "123").has_value());
    ASSERT_TRUE(desk.edit().append("list", "123").has_value());
    ASSERT_TRUE(desk.edit().append("list", 123).has_value());
    ASSERT_TRUE(desk.edit().append("log", "123").has_value());
    EXPECT_EQ(desk.reader().value("text").value(), Value("123"));
    EXPECT_EQ(desk.reader().value("list").value(), Value(List{"123", 123}));
    EXPECT_EQ(*desk.reader().at("log", 0).value().get("message"), Value("123"));
    const auto map = desk.edit().append("map", "x");
    EXPECT_EQ(map.error().message(), "Schema mismatch: expected Text, List or Log, got Map");
    EXPECT_EQ(reason(desk.edit().append("text", 5)), "schema_mismatch");
    EXPECT_EQ(reason(desk.edit().append("", "x")), "section_required");
    EXPECT_EQ(reason(desk.edit().append("nowhere", "x")), "section_not_found");
    EXPECT_EQ(
        reason(desk.edit(writer("agent:ada", policy::Permission::read_only)).append("map", "x")),
        "permission_denied");
}

TEST(MemoryEditLast, NamesTheWriteAndItsWriter) {
    MemoryDesk desk(profile());
    MemoryEdit edit = desk.edit("source:lsp");
    EXPECT_EQ(edit.last().operation, "");
    ASSERT_TRUE(edit.set_field({"", "name"}, "Ada").has_value());
    EXPECT_EQ(message_of(edit.last()), "source:lsp:set_field:name");
    ASSERT_FALSE(edit.set_field({"", "age"}, "x").has_value());
    EXPECT_EQ(message_of(edit.last()), "source:lsp:set_field:name");
}

TEST(MemoryAttribution, TellsTheSectionOfAField) {
    MemoryDesk desk(CompositeSchema{{{"a", profile()}, {"b", BlockSchema(ListSchema{})}}});
    MemoryEdit edit = desk.edit("agent:ada");
    ASSERT_TRUE(edit.set_field({"a", "name"}, "Ada").has_value());
    EXPECT_EQ(message_of(edit.last()), "agent:ada:set_field:a/name");
    ASSERT_TRUE(edit.append("b", "x").has_value());
    EXPECT_EQ(message_of(edit.last()), "agent:ada:push_item:b");
}

TEST(MemoryRead, ASectionIsReadByItself) {
    MemoryDesk desk(CompositeSchema{{{"a", profile()}, {"b", BlockSchema()}}});
    ASSERT_TRUE(desk.edit().set_field({"a", "name"}, "Ada").has_value());
    ASSERT_TRUE(desk.edit().set_text("b", "x").has_value());
    EXPECT_EQ(*desk.reader().value("a").value().get("name"), Value("Ada"));
    EXPECT_EQ(desk.reader().text("b").value()->str(), "x");
    EXPECT_EQ(*desk.value().get("b"), Value("x"));
    EXPECT_EQ(reason(desk.reader().text("a")), "schema_mismatch");
    EXPECT_EQ(reason(desk.reader().size("b")), "schema_mismatch");
    EXPECT_EQ(reason(desk.reader().field({"b", "x"})), "schema_mismatch");
    EXPECT_EQ(reason(desk.reader().value("c")), "section_not_found");
    EXPECT_EQ(desk.doc.value(),
              Value(Map{{"section:a:root", Map{{"name", "Ada"}}}, {"section/b/content", "x"}}));
}

}  // namespace
}  // namespace quire::memory
