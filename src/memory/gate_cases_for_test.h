// All ways to write a memory block that a rule forbids, as a table of attempts and expected
// refusals. gate_test.cc checks that each attempt is refused; a second program, linked with a gate
// that admits everything, checks that none would be refused without the gate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "memory/incoming.h"
#include "memory/memory_desk_for_test.h"

namespace quire::memory {

struct GateCase {
    std::string name;
    std::string message;  // "" where it is allowed.
    std::string reason;
    std::function<std::string()> attempt;  // The message of the refusal; "" when it was made.
};

using Attempt = std::function<Result<void>(MemoryEdit&)>;

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

inline std::string attempt(const BlockSchema& schema, const std::string& section, const Writer& by,
                           const Attempt& write) {
    MemoryDesk desk(schema);
    furnish(desk, section);
    MemoryEdit edit = desk.edit(by);
    const Value before = desk.value();
    const Result<void> made = write(edit);
    if (made) return "";
    EXPECT_EQ(desk.value(), before) << "a refused write changes nothing";
    EXPECT_TRUE(desk.doc.pending().empty());
    return made.error().message();
}

// Like attempt(), but the write is made by a replica without a gate and arrives as changes.
inline std::string offer(const BlockSchema& schema, const std::string& section, const Writer& by,
                         const Attempt& write) {
    MemoryDesk desk(schema);
    furnish(desk, section);
    MemoryDesk replica(schema, 2);
    EXPECT_TRUE(replica.doc.import(desk.doc.changes_since({})).has_value());
    MemoryEdit ungated = replica.edit("source:lsp");
    EXPECT_TRUE(write(ungated).has_value());
    replica.doc.commit();
    const auto changes = replica.doc.changes_since(desk.doc.version()).changes();
    const Result<void> allowed = check_incoming(desk.doc, desk.block, by, changes);
    return allowed ? "" : allowed.error().message();
}

// Each writer under each permission, here and from outside.
inline std::vector<GateCase> permission_cases() {
    using policy::Permission;
    std::vector<GateCase> out;
    for (const WriteCase& each : every_write()) {
        for (const Permission permission :
             {Permission::read_only, Permission::partner, Permission::human, Permission::append,
              Permission::read_write, Permission::admin}) {
            const Writer by = writer("agent:ada", permission);
            const Result<void> permitted = policy::permit(by.rights, each.operation);
            const Attempt write = [write = each.write](MemoryEdit& edit) {
                return write(edit, "");
            };
            const std::string name = cat(each.name, " under ", name_of(permission));
            out.push_back({name, permitted ? "" : permitted.error().message(),
                           permitted ? "" : permitted.error().reason(),
                           [=] { return attempt(each.schema, "", by, write); }});
        }
    }
    return out;
}

inline BlockSchema in_section(const BlockSchema& schema, bool read_only) {
    return CompositeSchema{
        {{"outer", BlockSchema(CompositeSchema{{{"inner", schema, "", read_only}}})}}};
}

// Each writer in a section that is read-only, here and from outside.
inline std::vector<GateCase> section_cases() {
    std::vector<GateCase> out;
    const Writer by = writer("agent:ada");
    for (const WriteCase& each : every_write()) {
        const BlockSchema schema = in_section(each.schema, true);
        const std::string message = "Section 'inner' is read-only and cannot be modified by agent";
        const Attempt write = [write = each.write](MemoryEdit& edit) {
            return write(edit, "outer/inner");
        };
        out.push_back({cat(each.name, " in a read-only section"), message, "read_only_section",
                       [=] { return attempt(schema, "outer/inner", by, write); }});
        if (each.name == "trim_log")
            continue;  // It drops nothing here, so there is nothing to offer.
        out.push_back({cat(each.name, " offered to a read-only section"), message,
                       "read_only_section",
                       [=] { return offer(schema, "outer/inner", by, write); }});
    }
    return out;
}

// Each writer on a field that is read-only, here and from outside.
inline std::vector<GateCase> field_cases() {
    const struct {
        std::string name;
        std::string field;
        BlockSchema schema;
        Attempt write;
    } rows[] = {
        {"set_field", "status", gated_map(),
         [](MemoryEdit& e) {
             return e.set_field({"", "status"}, "x");
         }},
        {"set_field of a list", "errors", gated_map(),
         [](MemoryEdit& e) {
             return e.set_field({"", "errors"}, List{"x"});
         }},
        {"set_field of a counter", "count", gated_map(),
         [](MemoryEdit& e) {
             return e.set_field({"", "count"}, 5);
         }},
        {"unset a field", "errors", gated_map(),
         [](MemoryEdit& e) {
             return e.set_field({"", "errors"}, nullptr);
         }},
        {"set_text_field", "status", gated_map(),
         [](MemoryEdit& e) {
             return e.set_text_field({"", "status"}, "x");
         }},
        {"increment_counter", "count", gated_map(),
         [](MemoryEdit& e) {
             return without_value(e.increment_counter({"", "count"}, 1));
         }},
        {"increment_counter of a number", "total", gated_map(),
         [](MemoryEdit& e) {
             return without_value(e.increment_counter({"", "total"}, 1));
         }},
        {"append_to_list", "errors", gated_map(),
         [](MemoryEdit& e) {
             return e.append_to_list({"", "errors"}, "x");
         }},
        {"insert_into_list", "errors", gated_map(),
         [](MemoryEdit& e) {
             return e.insert_into_list({"", "errors"}, 0, "x");
         }},
        {"remove_from_list", "errors", gated_map(),
         [](MemoryEdit& e) {
             return without_value(e.remove_from_list({"", "errors"}, 0));
         }},
        {"push_item", "verdict", gated_list(),
         [](MemoryEdit& e) {
             return e.push_item("", Map{{"verdict", "x"}});
         }},
        {"insert_item", "verdict", gated_list(),
         [](MemoryEdit& e) {
             return e.insert_item("", 0, Map{{"verdict", "x"}});
         }},
        {"set_item", "verdict", gated_list(),
         [](MemoryEdit& e) {
             return e.set_item("", 0, Map{{"verdict", "x"}});
         }},
        {"set_item_field", "verdict", gated_list(),
         [](MemoryEdit& e) { return e.set_item_field("", 0, "verdict", "x"); }},
        {"take an item's field away", "verdict", gated_list(),
         [](MemoryEdit& e) { return e.set_item_field("", 0, "verdict", nullptr); }},
        {"append_entry", "severity", gated_log(),
         [](MemoryEdit& e) {
             return e.append_entry("", Map{{"message", "m"}, {"severity", "x"}});
         }},
    };
    std::vector<GateCase> out;
    const Writer by = writer("agent:ada");
    for (const auto& row : rows) {
        const std::string message =
            cat("Field '", row.field, "' is read-only and cannot be modified by agent");
        out.push_back({cat(row.name, " of a read-only field"), message, "read_only_field",
                       [=] { return attempt(row.schema, "", by, row.write); }});
        out.push_back({cat(row.name, " offered to a read-only field"), message, "read_only_field",
                       [=] { return offer(row.schema, "", by, row.write); }});
    }
    return out;
}

}  // namespace quire::memory
