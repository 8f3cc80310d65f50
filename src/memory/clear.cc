// Empties by operations, like any other write, so clearing has an author, can be undone, and merges
// with what others write meanwhile. Containers that the schema does not name are left alone.
// O(content).

#include "memory/clear.h"

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "memory/field_path.h"
#include "memory/splices.h"

namespace quire::memory {
namespace {

void empty(crdt::Doc& doc, crdt::Handle list) {
    const std::size_t len = doc.list(list).size();
    if (len > 0) CHECK(doc.list(list).erase(0, len).has_value());
}

// A field may have a value in `root`, a container of its own, or both; each goes. A Counter cannot
// be set; its sum is taken away, and what others add meanwhile still counts.
void clear_field(crdt::Doc& doc, const std::string& section, const Field& field) {
    const crdt::Handle root = doc.open(root_of(section));
    if (doc.map(root).get(field.name)) CHECK(doc.map(root).erase(field.name).has_value());
    const crdt::Handle value = doc.open(value_of(section, field));
    switch (field.type) {
        case FieldType::text:
            rewrite(doc, value, "");
            break;
        case FieldType::list:
            empty(doc, value);
            break;
        case FieldType::counter:
            CHECK(doc.counter(value).bring_to(0).has_value());
            break;
        case FieldType::number:
        case FieldType::boolean:
        case FieldType::timestamp:
            break;
    }
}

// The schema tells which containers can have content.
void clear(crdt::Doc& doc, const BlockSchema& schema, const std::string& section) {
    if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections)
            clear(doc, *each.schema, section.empty() ? each.name : cat(section, "/", each.name));
    } else if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) clear_field(doc, section, each);
    } else if (schema.as<TextSchema>() != nullptr) {
        rewrite(doc, doc.open(content_of(section)), "");
    } else if (schema.as<ListSchema>() != nullptr) {
        empty(doc, doc.open(items_of(section)));
    } else {
        empty(doc, doc.open(entries_of(section)));
    }
}

}  // namespace

void clear(crdt::Doc& doc, const BlockSchema& schema) {
    clear(doc, schema, "");
}

}  // namespace quire::memory
