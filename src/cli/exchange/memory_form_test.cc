#include "cli/exchange/memory_form.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "memory/memory_desk_for_test.h"
#include "memory/random_schema_for_test.h"
#include "memory/schema_form.h"
#include "memory/validate.h"

namespace quire::cli {
namespace {

using memory::BlockSchema;

const FormHead kHead{"notes", "What is\nknown", "read_write", 7};

BlockSchema parsed(std::string_view schema) {
    return memory::parse_schema(json::parse(schema).value()).value();
}

std::string form_of(const BlockSchema& schema, const Value& value) {
    return write_form(kHead, schema, value);
}

// The line and the message, or what was read.
std::string read(std::string_view form, const BlockSchema& schema,
                 const Value& shown = memory::default_value({})) {
    const auto value = read_form(form, schema, shown);
    return value ? json::write(*value) : value.error().message();
}

// The value as a person sees it in a form: read-only fields of Maps and read-only
// sections are comments there.
Value writable(const BlockSchema& schema, const Value& value) {
    if (const auto* map = schema.as<memory::MapSchema>()) {
        Map out;
        for (const auto& [key, each] : value.as_map()) {
            if (!memory::find_field(map->fields, key)->read_only) out.append(key, each);
        }
        return out;
    }
    const auto* composite = schema.as<memory::CompositeSchema>();
    if (composite == nullptr) return value;
    Map out;
    for (const auto& [key, each] : value.as_map()) {
        const memory::Section& section = *schema.section(key);
        if (section.read_only) continue;
        const Value inside = writable(*section.schema, each);
        const bool composed = section.schema->as<memory::CompositeSchema>() != nullptr;
        // A section of sections that are all read-only is nothing but comments.
        if (!composed || !inside.as_map().empty()) out.append(key, inside);
    }
    return out;
}

// All that a block of the schema reads as once `value` was written to it.
Value whole(const BlockSchema& schema, const Value& value) {
    const auto* composite = schema.as<memory::CompositeSchema>();
    if (composite == nullptr) return value;
    Map out;
    for (const memory::Section& each : composite->sections) {
        const Value* here = value.get(each.name);
        const Value unset = memory::default_value(*each.schema);
        out.append(each.name, whole(*each.schema, here == nullptr ? unset : *here));
    }
    return out;
}

TEST(MemoryForm, ShowsTheWholeBlockForAnySchema) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        SCOPED_TRACE(seed);
        memory::SchemaMaker make(seed);
        const BlockSchema schema = make.schema();
        const Value value = whole(schema, make.value(schema));
        const std::string form = form_of(schema, value);

        const auto back = read_form(form, schema, value);

        ASSERT_TRUE(back) << back.error().message() << "\n" << form;
        ASSERT_EQ(*back, writable(schema, value)) << form;
    }
}

// Every character that there is, and what TOML and editors like to take for something else.
TEST(MemoryForm, KeepsEveryCharacter) {
    std::vector<std::string> texts = {"",
                                      "\n",
                                      "\n\n",
                                      "\"\"\"",
                                      "a\n\"\"\"\"\n\"",
                                      "\\n\\",
                                      "a\r\nb",
                                      "\ta \n b ",
                                      "\xef\xbb\xbf\x61\n\xc2\x85",
                                      "# a\n# b",
                                      "'''\n",
                                      "=\n[a]\n",
                                      "\xe2\x80\xa8\n\xe2\x80\xae"};
    for (char32_t each = 0; each < 0x110000; each += each < 0x3000 ? 1 : 0x3f1) {
        if (each >= 0xd800 && each < 0xe000) continue;
        std::string character;
        if (each < 0x80) {
            character = {static_cast<char>(each)};
        } else if (each < 0x800) {
            character = {static_cast<char>(0xc0 | each >> 6),
                         static_cast<char>(0x80 | (each & 63))};
        } else if (each < 0x10000) {
            character = {static_cast<char>(0xe0 | each >> 12),
                         static_cast<char>(0x80 | (each >> 6 & 63)),
                         static_cast<char>(0x80 | (each & 63))};
        } else {
            character = {
                static_cast<char>(0xf0 | each >> 18), static_cast<char>(0x80 | (each >> 12 & 63)),
                static_cast<char>(0x80 | (each >> 6 & 63)), static_cast<char>(0x80 | (each & 63))};
        }
        texts.push_back(character);
        texts.push_back("a\n" + character + "\nb");
    }
    const BlockSchema schema = parsed(R"({"List": {}})");
    List items;
    for (const std::string& each : texts) {
        items.emplace_back(each);
        items.emplace_back(Map{{each, each}, {"$" + each, 1}});
    }

    const auto back = read_form(form_of(schema, items), schema, List());

    ASSERT_TRUE(back) << back.error().message();
    ASSERT_EQ(back->as_list().size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) ASSERT_EQ(back->as_list()[i], items[i]) << i;
}

TEST(MemoryForm, KeepsNumbersAndJsonValues) {
    const BlockSchema schema = parsed(R"({"List": {}})");
    const Value value = json::parse(R"([1, 1.0, -0.5, 1e300, 5e-324, 9223372036854775807,
        -9223372036854775808, null, [null, {"$": null, "$$": 1, "k": [[]]}], {}, [], true])")
                            .value();

    EXPECT_EQ(json::write(read_form(form_of(schema, value), schema, List()).value()),
              json::write(value));
}

TEST(MemoryForm, ATextIsItsTextAndANewlineThatEditorsWant) {
    const BlockSchema text;
    for (const std::string each : {"", "a", "a\n", "\n", "a\n\n", "# no comment\n[x]"}) {
        const std::string form = form_of(text, each);
        EXPECT_TRUE(form.empty() || form.back() == '\n');
        EXPECT_EQ(read_form(form, text, each).value(), Value(each));
    }
    EXPECT_EQ(read_form("a", text, "a").value(), Value("a"));
    EXPECT_EQ(read_form("a\n\n", text, "a").value(), Value("a\n"));
    EXPECT_EQ(read_form("b\n", text, "").value(), Value("b\n"));
}

TEST(MemoryForm, ShowsABlockReadably) {
    const BlockSchema schema = parsed(R"({"Composite": {"sections": [
        {"name": "state", "read_only": true, "schema": {"Map": {"fields": [{"name": "errors", "field_type": "Counter"}]}}},
        {"name": "who", "description": "The person", "schema": {"Map": {"fields": [
            {"name": "name", "description": "In full", "field_type": "Text", "required": true},
            {"name": "id", "field_type": "Number", "read_only": true},
            {"name": "tags", "field_type": "List"}]}}},
        {"name": "to do", "schema": {"List": {"item_schema": {"Map": {"fields": [{"name": "title", "field_type": "Text"}]}}}}},
        {"name": "notes", "schema": "Text"}]}})");
    const Value value = json::parse(R"({"state": {"errors": 2}, "who": {"id": 5, "tags": ["a", 1]},
        "to do": [{"title": "tea"}], "notes": "one\ntwo\n"})")
                            .value();

    EXPECT_EQ(form_of(schema, value), R"(# The memory block 'notes', version 7, as TOML.
# What is
# known
# Save and close to write your changes back; the rest of the block is not touched. An unchanged file changes nothing.

# [read-only] The section 'state':
# [state]
# # [Counter]
# errors = 2

# The person
[who]
# [Text, required] In full
# name =          # not set
# [Number, read-only]
# id = 5
# [List]
tags = ["a", 1]

# To add one, write [["to do".items]] and below it:
#   title =   [Text]

[["to do".items]]
title = "tea"

[notes]
text = """
one
two
"""
)");
}

TEST(MemoryForm, NamesTheLineOfAnError) {
    const BlockSchema map = parsed(R"({"Map": {"fields": [
        {"name": "level", "field_type": "Number"}, {"name": "due", "field_type": "Timestamp"}]}})");
    EXPECT_EQ(read("\nlevel = 'x'", map),
              "line 2: level: Schema mismatch: expected Number, got string");
    EXPECT_EQ(read("# a\n\nlevle = 1", map),
              "line 3: there is no field 'levle'; there are level, due");
    EXPECT_TRUE(read("level = 1\n\ndue = ", map).starts_with("line 3: it is not TOML: "));
    EXPECT_TRUE(read("level = 1\nlevel = 2", map).starts_with("line 2: it is not TOML: "));
    EXPECT_EQ(read("level = 1\nx = \"\xff\"", map), "line 2: it is not UTF-8");
    EXPECT_EQ(read("due = 2025-01-23T14:32:05Z", map), R"({"due":"2025-01-23T14:32:05Z"})");

    const BlockSchema list = parsed(R"({"List": {"item_schema": {"Map": {"fields": [
        {"name": "title", "field_type": "Text", "required": true}]}}}})");
    EXPECT_TRUE(read("[[items]]\ntitle = 'a'\n\n[[items]]\n", list).starts_with("line 4: title: "));
    EXPECT_EQ(read("items = 1", list), "line 1: 'items' is a list, not integer");
    EXPECT_EQ(read("\nitem = []", list),
              "line 2: 'item' is unknown here; the only part is 'items'");
    EXPECT_TRUE(read("items = [\n{ '$' = 1 }]", list).starts_with("line 2: only {"));

    const BlockSchema composite =
        parsed(R"({"Composite": {"sections": [{"name": "a", "schema": "Text"}]}})");
    EXPECT_EQ(read("[b]\n", composite), "line 1: there is no section 'b'; there are a");
    EXPECT_EQ(read("a = 1\n", composite), "line 1: 'a' is a section: [a]");
    EXPECT_EQ(read("[a]\ntext = 1\n", composite), "line 2: 'text' is a text, not integer");
}

// Other programs may have written what no schema allows; a person is not asked to mend that.
TEST(MemoryForm, AnEmptyListIsAddedToAsItsFormSays) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {R"({"List":{"item_schema":{"Map":{"fields":[{"name":"title","field_type":"Text"}]}}}})",
         "items"},
        {R"({"Log":{"display_limit":5,"entry_schema":{"timestamp":false,"agent_id":false,
             "fields":[{"name":"title","field_type":"Text"}]}}})",
         "entries"}};
    for (const auto& [text, key] : cases) {
        const std::string added = cat("\n[[", key, "]]\ntitle = \"tea\"\n");
        const BlockSchema alone = parsed(text);
        EXPECT_EQ(read(form_of(alone, List()) + added, alone, List()), R"([{"title":"tea"}])");
        EXPECT_EQ(read(form_of(alone, List()), alone, List()), "[]");

        const BlockSchema within =
            parsed(cat(R"({"Composite":{"sections":[{"name":"a b","schema":)", text, "}]}}"));
        const Value empty = Map{{"a b", List()}};
        const std::string below = cat("\n[[\"a b\".", key, "]]\ntitle = \"tea\"\n");
        EXPECT_EQ(read(form_of(within, empty) + below, within, empty),
                  R"({"a b":[{"title":"tea"}]})");
        EXPECT_EQ(read(form_of(within, empty), within, empty), R"({"a b":[]})");
    }
}

TEST(MemoryForm, RemovedItemsAreGone) {
    const BlockSchema list = parsed(R"("List")");
    const Value one = List{Map{{"title", "tea"}}};
    EXPECT_EQ(read("# nothing is left\n", list, one), "[]");
    const BlockSchema sections = parsed(R"({"Composite":{"sections":[
        {"name":"a","schema":"List"},{"name":"b","schema":"Text"},
        {"name":"c","schema":"List","read_only":true}]}})");
    const Value shown = Map{{"a", one}, {"b", "kept"}, {"c", one}};
    EXPECT_EQ(read("[b]\ntext = \"kept\"\n", sections, shown), R"({"b":"kept","a":[]})");
}

TEST(MemoryForm, ARemovedSectionOfSectionsHasEmptyLists) {
    const BlockSchema schema = parsed(R"({"Composite":{"sections":[
        {"name":"outer","schema":{"Composite":{"sections":[
            {"name":"list","schema":"List"},{"name":"fixed","schema":"List","read_only":true},
            {"name":"inner","schema":{"Composite":{"sections":[{"name":"list","schema":"List"}]}}},
            {"name":"text","schema":"Text"}]}}},
        {"name":"quiet","schema":{"Composite":{"sections":[{"name":"text","schema":"Text"}]}}},
        {"name":"closed","read_only":true,
         "schema":{"Composite":{"sections":[{"name":"list","schema":"List"}]}}}]}})");
    const Value shown = memory::default_value(schema);
    EXPECT_EQ(read("# nothing is left\n", schema, shown),
              R"({"outer":{"list":[],"inner":{"list":[]}}})");
    EXPECT_EQ(read("[outer.text]\ntext = 'a'\n", schema, shown),
              R"({"outer":{"text":"a","list":[],"inner":{"list":[]}}})");
}

TEST(MemoryForm, KnowsTheLineOfAPlace) {
    const BlockSchema schema = parsed(R"({"Composite":{"sections":[
        {"name":"a b","schema":{"Map":{"fields":[{"name":"level","field_type":"Number"}]}}},
        {"name":"in","schema":{"Composite":{"sections":[{"name":"todo","schema":"List"},
            {"name":"log","schema":"Log"},{"name":"note","schema":"Text"}]}}}]}})");
    const std::string_view form =
        "# one\n[\"a b\"]\n\nlevel = 5\n\n[[in.todo.items]]\n"
        "title = 'tea'\n[[in.todo.items]]\ntitle = 'hat'\n"
        "[in.log]\nentries = [\n  'a',\n  'b']\n[in.note]\ntext = 'x'\n";
    const auto line = [&](const FormPlace& place) {
        return line_of(form, schema, place).value_or(0);
    };
    EXPECT_EQ(line({"a b", "level"}), 4U);
    EXPECT_EQ(line({"a b", "other"}), 2U);
    EXPECT_EQ(line({"in/todo", "", 0}), 6U);
    EXPECT_EQ(line({"in/todo", "", 1}), 8U);
    EXPECT_EQ(line({"in/log", "", 1}), 13U);
    EXPECT_EQ(line({"in/log", "", 2}), 11U);
    EXPECT_EQ(line({"in/note"}), 15U);
    EXPECT_EQ(line({"nothing", "level"}), 0U);
    EXPECT_EQ(line_of("level = 5\n", BlockSchema(), {"", "level"}), std::nullopt);
    EXPECT_EQ(line_of("level = [\n", schema, {"", "level"}), std::nullopt);
}

TEST(MemoryForm, ValuesThatWereThereBeforeAreNotChecked) {
    const BlockSchema map =
        parsed(R"({"Map": {"fields": [{"name": "level", "field_type": "Number"}]}})");
    EXPECT_EQ(read("level = 'x'", map, Map{{"level", "x"}}), R"({"level":"x"})");
    const BlockSchema list = parsed(R"({"List": {"item_schema": {"Map": {"fields": [
        {"name": "title", "field_type": "Text", "required": true}]}}}})");
    EXPECT_EQ(read("[[items]]\n", list, List{Map{}}), R"([{}])");
}

}  // namespace
}  // namespace quire::cli
