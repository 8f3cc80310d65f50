#include "document/clear.h"

#include "base/cat.h"
#include "base/check.h"
#include "document/field_path.h"
#include "document/splices.h"

namespace quire::document {
namespace {

void empty(crdt::Doc& doc, crdt::Handle list) {
    const std::size_t len = doc.list_size(list);
    if (len > 0) CHECK(doc.list_erase(list, 0, len).has_value());
}

void clear_field(crdt::Doc& doc, const std::string& section, const schema::Field& field) {
    const crdt::Handle root = doc.open(root_of(section));
    if (doc.map_get(root, field.name)) CHECK(doc.map_erase(root, field.name).has_value());
    const crdt::Handle value = doc.open(value_of(section, field));
    switch (field.type) {
        case schema::FieldType::text:
            rewrite(doc, value, "");
            break;
        case schema::FieldType::list:
            empty(doc, value);
            break;
        case schema::FieldType::counter:
            if (const double now = doc.counter_value(value); now != 0)
                CHECK(doc.counter_add(value, -now).has_value());
            break;
        case schema::FieldType::number:
        case schema::FieldType::boolean:
        case schema::FieldType::timestamp:
            break;
    }
}

void clear(crdt::Doc& doc, const schema::BlockSchema& schema, const std::string& section) {
    if (const auto* composite = schema.as<schema::CompositeSchema>()) {
        for (const schema::Section& each : composite->sections)
            clear(doc, *each.schema, section.empty() ? each.name : cat(section, "/", each.name));
    } else if (const auto* map = schema.as<schema::MapSchema>()) {
        for (const schema::Field& each : map->fields) clear_field(doc, section, each);
    } else if (schema.as<schema::TextSchema>() != nullptr) {
        rewrite(doc, doc.open(content_of(section)), "");
    } else if (schema.as<schema::ListSchema>() != nullptr) {
        empty(doc, doc.open(items_of(section)));
    } else {
        empty(doc, doc.open(entries_of(section)));
    }
}

}  // namespace

void clear(crdt::Doc& doc, const schema::BlockSchema& schema) {
    clear(doc, schema, "");
}

}  // namespace quire::document
