// Look-ups by name in a schema, and the sharing of nested ones. A schema is a value whose inner
// parts are shared and never changed, so a copy costs a count. Names are found by a scan: a schema
// has tens of them, and its form bounds their number.

#include "memory/block_schema.h"

#include <algorithm>

namespace quire::memory {
namespace {

// The names of one schema often begin alike, so their ends are compared first.
template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
    if (name.empty()) return nullptr;
    for (const Named& each : all) {
        const std::string& found = each.name;
        if (found.size() == name.size() && found.back() == name.back() && found == name)
            return &each;
    }
    return nullptr;
}

}  // namespace

Nested::Nested(BlockSchema schema)
    : schema_(std::make_shared<const BlockSchema>(std::move(schema))) {}

// Copies of one schema share their nested schemas, so most comparisons end with the addresses.
bool operator==(const Nested& a, const Nested& b) {
    return a.schema_ == b.schema_ || *a.schema_ == *b.schema_;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
    return find_named(fields, name);
}

std::string_view BlockSchema::name() const {
    static constexpr std::string_view kNames[] = {"Text", "Map", "List", "Log", "Composite"};
    return kNames[shape_->index()];
}

const Field* BlockSchema::field(std::string_view name) const {
    const auto* map = as<MapSchema>();
    return map == nullptr ? nullptr : find_named(map->fields, name);
}

const Section* BlockSchema::section(std::string_view name) const {
    const auto* composite = as<CompositeSchema>();
    return composite == nullptr ? nullptr : find_named(composite->sections, name);
}

std::optional<bool> BlockSchema::is_field_read_only(std::string_view name) const {
    const Field* found = field(name);
    if (found == nullptr) return std::nullopt;
    return found->read_only;
}

std::vector<std::string> BlockSchema::read_only_fields() const {
    std::vector<std::string> names;
    const auto* map = as<MapSchema>();
    if (map == nullptr) return names;
    for (const Field& each : map->fields) {
        if (each.read_only) names.push_back(each.name);
    }
    return names;
}

std::optional<bool> BlockSchema::is_section_read_only(std::string_view name) const {
    const Section* found = section(name);
    if (found == nullptr) return std::nullopt;
    return found->read_only;
}

const BlockSchema* BlockSchema::get_section_schema(std::string_view name) const {
    const Section* found = section(name);
    return found == nullptr ? nullptr : &*found->schema;
}

}  // namespace quire::memory
