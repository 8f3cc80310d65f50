// Every write to a memory block, on schemas that have something read-only in them, for the tables of
// gate_cases_for_test.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "memory/memory_desk_for_test.h"

namespace quire::memory {

inline BlockSchema gated_map() {
    return MapSchema{{{.name = "status", .read_only = true},
                      {.name = "errors", .type = FieldType::list, .read_only = true},
                      {.name = "count", .type = FieldType::counter, .read_only = true},
                      {.name = "total", .type = FieldType::number, .read_only = true},
                      {.name = "notes"},
                      {.name = "tags", .type = FieldType::list},
                      {.name = "seen", .type = FieldType::counter}}};
}

inline BlockSchema gated_list() {
    return ListSchema{
        BlockSchema(MapSchema{{{.name = "title"}, {.name = "verdict", .read_only = true}}})};
}

inline BlockSchema gated_log() {
    return LogSchema{20,
                     {true, false, {{.name = "message"}, {.name = "severity", .read_only = true}}}};
}

// Each kind of schema with something in it, so that every write finds what it is for.
inline void furnish(MemoryDesk& desk, const std::string& section) {
    MemoryEdit source = desk.edit("source:lsp");
    const BlockSchema& schema = *locate(desk.block.schema, section)->schema;
    if (schema.as<TextSchema>() != nullptr) {
        ASSERT_TRUE(source.set_text(section, "one two").has_value());
    }
    if (schema.as<MapSchema>() != nullptr) {
        ASSERT_TRUE(source.set_field({section, "errors"}, List{"e"}).has_value());
        ASSERT_TRUE(source.set_field({section, "tags"}, List{"t"}).has_value());
    }
    if (schema.as<ListSchema>() != nullptr) {
        ASSERT_TRUE(source.push_item(section, Map{{"title", "a"}, {"verdict", "v"}}).has_value());
    }
    if (schema.as<LogSchema>() != nullptr) {
        ASSERT_TRUE(source.append_entry(section, "began").has_value());
    }
    desk.doc.commit();
}

struct WriteCase {
    std::string name;
    policy::Operation operation;
    BlockSchema schema;
    std::function<Result<void>(MemoryEdit&, const std::string& section)> write;
};

inline std::vector<WriteCase> text_writes() {
    using policy::Operation;
    using E = MemoryEdit;
    using S = std::string;
    const auto text = BlockSchema();
    return {
        {"set_text", Operation::overwrite, text,
         [](E& e, const S& s) { return e.set_text(s, "x"); }},
        {"append_text", Operation::append, text,
         [](E& e, const S& s) { return e.append_text(s, "x"); }},
        {"replace_text", Operation::overwrite, text,
         [](E& e, const S& s) { return without_value(e.replace_text(s, "one", "1")); }},
        {"append a text", Operation::append, text,
         [](E& e, const S& s) { return e.append(s, "x"); }},
    };
}

inline std::vector<WriteCase> map_writes() {
    using policy::Operation;
    using E = MemoryEdit;
    using S = std::string;
    const auto map = gated_map();
    return {
        {"set_field", Operation::overwrite, map,
         [](E& e, const S& s) {
             return e.set_field({s, "notes"}, "x");
         }},
        {"set_field of a list", Operation::overwrite, map,
         [](E& e, const S& s) {
             return e.set_field({s, "tags"}, List{"x"});
         }},
        {"set_field of a counter", Operation::overwrite, map,
         [](E& e, const S& s) {
             return e.set_field({s, "seen"}, 5);
         }},
        {"unset a field", Operation::overwrite, map,
         [](E& e, const S& s) {
             return e.set_field({s, "tags"}, nullptr);
         }},
        {"set_text_field", Operation::overwrite, map,
         [](E& e, const S& s) {
             return e.set_text_field({s, "notes"}, "x");
         }},
        {"increment_counter", Operation::overwrite, map,
         [](E& e, const S& s) {
             return without_value(e.increment_counter({s, "seen"}, 1));
         }},
        {"append_to_list", Operation::append, map,
         [](E& e, const S& s) {
             return e.append_to_list({s, "tags"}, "x");
         }},
        {"insert_into_list", Operation::overwrite, map,
         [](E& e, const S& s) {
             return e.insert_into_list({s, "tags"}, 0, "x");
         }},
        {"remove_from_list", Operation::overwrite, map,
         [](E& e, const S& s) {
             return without_value(e.remove_from_list({s, "tags"}, 0));
         }},
    };
}

inline std::vector<WriteCase> item_writes() {
    using policy::Operation;
    using E = MemoryEdit;
    using S = std::string;
    const auto list = gated_list();
    const auto log = gated_log();
    return {
        {"push_item", Operation::append, list,
         [](E& e, const S& s) {
             return e.push_item(s, Map{{"title", "b"}});
         }},
        {"append an item", Operation::append, list,
         [](E& e, const S& s) {
             return e.append(s, Map{{"title", "b"}});
         }},
        {"append_to_list of items", Operation::append, list,
         [](E& e, const S& s) {
             return e.append_to_list({s, ""}, Map{{"title", "b"}});
         }},
        {"insert_item", Operation::overwrite, list,
         [](E& e, const S& s) {
             return e.insert_item(s, 0, Map{{"title", "b"}});
         }},
        {"set_item", Operation::overwrite, list,
         [](E& e, const S& s) {
             return e.set_item(s, 0, Map{{"title", "b"}});
         }},
        {"set_item_field", Operation::overwrite, list,
         [](E& e, const S& s) { return e.set_item_field(s, 0, "title", "b"); }},
        {"delete_item", Operation::overwrite, list,
         [](E& e, const S& s) { return without_value(e.delete_item(s, 0)); }},
        {"append_entry", Operation::append, log,
         [](E& e, const S& s) { return e.append_entry(s, "x"); }},
        {"append an entry", Operation::append, log,
         [](E& e, const S& s) { return e.append(s, "x"); }},
        {"trim_log", Operation::overwrite, log,
         [](E& e, const S& s) { return without_value(e.trim_log(s)); }},
    };
}

// Every write operation, on a schema that suits it and on nothing read-only.
inline std::vector<WriteCase> every_write() {
    std::vector<WriteCase> all = text_writes();
    for (const auto& more : {map_writes(), item_writes()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace quire::memory
