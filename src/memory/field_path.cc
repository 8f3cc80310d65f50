// Names of containers are built from the schema alone and parsed back here; both directions must
// agree, since documents of other replicas are read by them. Escaping uses three characters ('%',
// '/', ':'), so every name maps to exactly one container name and back.

#include "memory/field_path.h"

#include <algorithm>

#include "base/concat.h"
#include "crdt/ids/ids.h"
#include "text/escape.h"

namespace quire::memory {
namespace {

constexpr std::string_view kSection = "section";
// Characters that are escaped inside a name.
constexpr std::string_view kReserved = "/:";

// Removes the prefix from the text; false if the text does not begin with it.
bool skip(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// Removes the first section from the path and returns it.
std::string_view take_section(std::string_view& path) {
    const std::string_view first = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), first.size() + 1));
    return first;
}

// section/NAME/ for each section of the path; a Map's container uses ':' in place of '/'.
std::string prefix_of(std::string_view section, char separator = '/') {
    std::string out;
    while (!section.empty()) {
        cat_to(out, cat(kSection, separator,
                        text::percent_escaped(take_section(section), kReserved), separator));
    }
    return out;
}

crdt::ContainerId root(std::string_view section, Part part, crdt::ContainerKind kind) {
    return crdt::ContainerId::root(container_name({std::string(section), part}), kind);
}

crdt::ContainerKind kind_of(FieldType type) {
    switch (type) {
        case FieldType::list:
            return crdt::ContainerKind::list;
        case FieldType::counter:
            return crdt::ContainerKind::counter;
        case FieldType::text:
        case FieldType::number:
        case FieldType::boolean:
        case FieldType::timestamp:
            break;
    }
    return crdt::ContainerKind::text;
}

List names_of(const CompositeSchema& composite, std::string& listed) {
    List names;
    for (const Section& each : composite.sections) {
        names.emplace_back(each.name);
        cat_to(listed, cat(listed.empty() ? "" : ", ", each.name));
    }
    return names;
}

// The error lists the sections that exist.
Failure section_not_found(const BlockSchema& schema, std::string_view section) {
    std::string listed;
    List names;
    if (const auto* composite = schema.as<CompositeSchema>()) names = names_of(*composite, listed);
    return fail(Errc::not_found, "section_not_found",
                cat("Section '", section, "' not found; ",
                    listed.empty() ? "there are no sections" : "the sections are: ", listed),
                {{"section", section}, {"sections", std::move(names)}});
}

Failure section_required(const CompositeSchema& composite) {
    std::string listed;
    List names = names_of(composite, listed);
    return invalid("section_required", cat("Say which section; the sections are: ", listed),
                   {{"sections", std::move(names)}});
}

}  // namespace

std::string container_name(const Place& place) {
    return cat(
        prefix_of(place.section, place.part == Part::root ? ':' : '/'), name_of(place.part),
        place.part == Part::value ? text::percent_escaped(place.field, kReserved) : std::string());
}

// The inverse of container_name(). Strict: a name that container_name() would not have made is no
// place. Another replica could otherwise write a field under two names.
std::optional<Place> place_of(std::string_view name) {
    Place out;
    const char separator = name.find(':') < name.find('/') ? ':' : '/';
    while (skip(name, cat(kSection, separator))) {
        const std::size_t end = name.find(separator);
        if (end == std::string_view::npos || end == 0) return std::nullopt;
        const auto section = text::percent_unescaped(name.substr(0, end), kReserved);
        if (!section || section->find('/') != std::string::npos) return std::nullopt;
        cat_to(out.section, cat(out.section.empty() ? "" : "/", *section));
        name.remove_prefix(end + 1);
    }
    for (const Part each : {Part::content, Part::root, Part::items, Part::entries}) {
        if (name != name_of(each)) continue;
        // Only a Map's container name separates sections with ':'.
        if (!out.section.empty() && (each == Part::root) != (separator == ':')) return std::nullopt;
        out.part = each;
        return out;
    }
    const bool in_map_form = !out.section.empty() && separator == ':';
    if (in_map_form || !skip(name, name_of(Part::value)) || name.empty()) return std::nullopt;
    auto field = text::percent_unescaped(name, kReserved);
    if (!field) return std::nullopt;
    out.part = Part::value;
    out.field = std::move(*field);
    return out;
}

crdt::ContainerId content_of(std::string_view section) {
    return root(section, Part::content, crdt::ContainerKind::text);
}
crdt::ContainerId root_of(std::string_view section) {
    return root(section, Part::root, crdt::ContainerKind::map);
}
crdt::ContainerId items_of(std::string_view section) {
    return root(section, Part::items, crdt::ContainerKind::list);
}
crdt::ContainerId entries_of(std::string_view section) {
    return root(section, Part::entries, crdt::ContainerKind::list);
}
crdt::ContainerId value_of(std::string_view section, const Field& field) {
    return crdt::ContainerId::root(
        cat(prefix_of(section), name_of(Part::value), text::percent_escaped(field.name, kReserved)),
        kind_of(field.type));
}

// Walks down the named sections. The outermost read-only section is kept, because it forbids the
// write whatever is inside.
Result<Located> locate(const BlockSchema& schema, std::string_view section) {
    Located out{&schema, nullptr};
    while (!section.empty()) {
        const std::string_view first = take_section(section);
        const Section* found = out.schema->section(first);
        if (found == nullptr) return section_not_found(*out.schema, first);
        if (found->read_only && out.read_only == nullptr) out.read_only = found;
        out.schema = &*found->schema;
    }
    if (const auto* composite = out.schema->as<CompositeSchema>())
        return section_required(*composite);
    return out;
}

}  // namespace quire::memory
