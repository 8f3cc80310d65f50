// The parts that the gate and the reader share: which fields a schema has, and whether a write
// suits its shape. A List and a Log have the fields of their items and entries.

#include "memory/written.h"

#include "base/concat.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

// Returns true for the members that an entry has beside its fields.
bool is_entry_header(const BlockSchema& schema, std::string_view field) {
    const auto* log = schema.as<LogSchema>();
    return log != nullptr && ((log->entry.timestamp && field == "timestamp") ||
                              (log->entry.agent_id && field == "agent_id"));
}

}  // namespace

const std::vector<Field>* fields_of(const BlockSchema& schema) {
    if (const auto* map = schema.as<MapSchema>()) return &map->fields;
    if (const auto* list = schema.as<ListSchema>()) {
        const auto* item = list->item_schema ? (*list->item_schema)->as<MapSchema>() : nullptr;
        return item == nullptr ? nullptr : &item->fields;
    }
    const auto* log = schema.as<LogSchema>();
    return log == nullptr || log->entry.fields.empty() ? nullptr : &log->entry.fields;
}

Result<void> check_shape(const BlockSchema& schema, const Write& write) {
    if (schema.name() == name_of(write.shape)) return {};
    return schema_mismatch(write.fields.empty() ? "" : write.fields.front(), name_of(write.shape),
                           schema.name());
}

// Null is a success: the member may be written and has no field that could forbid it. Members of an
// open item are such, and the header of an entry.
Result<const Field*> find_written(const BlockSchema& schema, std::string_view field) {
    const std::vector<Field>* fields = fields_of(schema);
    if (fields == nullptr || is_entry_header(schema, field)) return nullptr;
    const Field* found = find_field(*fields, field);
    if (found == nullptr) return field_not_found(field, *fields);
    return found;
}

// An agent stands in its own log by name alone, as logs show it; others by their kind as well.
std::string entry_writer(const policy::Actor& actor) {
    return actor.kind == policy::ActorKind::agent ? actor.name : actor.str();
}

Failure read_only_field(std::string_view field) {
    return fail(Errc::denied, "read_only_field",
                cat("Field '", field, "' is read-only and cannot be modified by agent"),
                {{"field", field}});
}

}  // namespace quire::memory
