// All ways to write a memory block that a rule forbids, as a table of attempts and expected
// refusals. gate_test.cc checks that each attempt is refused; a second program, linked with a gate
// that admits everything, checks that none would be refused without the gate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "memory/gate_writes_for_test.h"
#include "memory/incoming.h"

namespace quire::memory {

struct GateCase {
    std::string name;
    std::string message;  // "" where it is allowed.
    std::string reason;
    std::function<std::string()> attempt;  // The message of the refusal; "" when it was made.
};

using Attempt = std::function<Result<void>(MemoryEdit&)>;

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
