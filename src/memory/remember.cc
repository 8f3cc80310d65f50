// Two walks over a schema. One makes the JSON Schema of a tool's arguments, leaving out what the
// writer may not write; the other takes the arguments of a call apart again. Both name arguments
// alike; the second passes over members that name no part of the schema. The write itself passes
// the gate like any other, so what is left out here is a convenience and protects nothing.

#include "memory/remember.h"

#include "base/concat.h"
#include "memory/schema_json.h"

namespace quire::memory {
namespace {

// With "remember_" before it a name has 64 characters, the most that models' interfaces take.
constexpr std::size_t kLongestName = 55;
constexpr std::string_view kContent = "content";
constexpr std::string_view kItem = "item";
constexpr std::string_view kEntry = "entry";

// The schema of what a List or a Log holds; none if it may be anything.
Map element_of(const BlockSchema& schema) {
    const Value whole = json_schema(schema);
    const Value* const items = whole.get("items");
    return items == nullptr ? Map() : items->as_map();
}

// A log's entry as a writer gives it. The header is filled in by the write, so a writer is not
// asked for it. An open entry may also be given as a text.
Map entry_of(const BlockSchema& schema, const LogSchema& log) {
    Map entry = element_of(schema);
    Value* const members = entry.find("properties");
    if (log.entry.timestamp) members->as_map().erase("timestamp");
    if (log.entry.agent_id) members->as_map().erase("agent_id");
    if (log.entry.fields.empty()) entry.set("type", List{"string", "object"});
    return entry;
}

// Collects the arguments that the writer has.
class Arguments {
public:
    explicit Arguments(const policy::Rights& rights)
        : may_append_(may(rights, policy::Operation::append)),
          may_set_(may(rights, policy::Operation::overwrite)) {}

    Map of(const BlockSchema& schema) const {
        return std::visit([&](const auto& shape) { return object_of(schema, shape); },
                          schema.shape());
    }

private:
    // An operation that needs a person's approval is offered: the call asks for it.
    static bool may(const policy::Rights& rights, policy::Operation operation) {
        const Result<void> permitted = policy::permit(rights, operation);
        return permitted || permitted.error().code() == Errc::escalation_required;
    }

    // A call that writes nothing is refused by the schema: it has a required argument, or needs one
    // of its members.
    static Map object(Map properties, List required) {
        Map out{{"type", "object"}, {"properties", std::move(properties)}};
        if (required.empty()) {
            out.append("minProperties", 1);
        } else {
            out.append("required", std::move(required));
        }
        out.append("additionalProperties", false);
        return out;
    }
    // The one argument that is appended.
    Map appended(std::string_view name, Map value) const {
        if (!may_append_) return object({}, {});
        Map properties;
        properties.append(std::string(name), std::move(value));
        return object(std::move(properties), {name});
    }

    Map object_of(const BlockSchema&, const TextSchema&) const {
        return appended(kContent, {{"type", "string"}, {"description", "Text to append."}});
    }
    Map object_of(const BlockSchema& schema, const ListSchema&) const {
        return appended(kItem, element_of(schema));
    }
    Map object_of(const BlockSchema& schema, const LogSchema& log) const {
        return appended(kEntry, entry_of(schema, log));
    }
    Map object_of(const BlockSchema&, const MapSchema& map) const {
        Map properties;
        for (const Field& each : map.fields) {
            if (!each.read_only && may_set_) properties.append(each.name, json_schema(each));
        }
        return object(std::move(properties), {});
    }
    Map object_of(const BlockSchema&, const CompositeSchema& composite) const {
        Map properties;
        for (const Section& each : composite.sections) {
            if (each.read_only) continue;
            Map section = of(*each.schema);
            if (section.find("properties")->as_map().empty()) continue;
            if (!each.description.empty()) section.set("description", each.description);
            properties.append(each.name, std::move(section));
        }
        return object(std::move(properties), {});
    }

    const bool may_append_;
    const bool may_set_;
};

void collect(const BlockSchema& schema, const std::string& section, const Map& arguments,
             std::vector<RememberedPart>& out) {
    const auto append = [&](std::string_view name) {
        if (const Value* const given = arguments.find(name))
            out.push_back({{section, ""}, true, *given});
    };
    if (const auto* const map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) {
            if (const Value* const given = arguments.find(each.name))
                out.push_back({{section, each.name}, false, *given});
        }
    } else if (const auto* const composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections) {
            const Value* const given = arguments.find(each.name);
            if (given == nullptr || !given->is_map()) continue;
            const std::string below = cat(section, section.empty() ? "" : "/", each.name);
            collect(*each.schema, below, given->as_map(), out);
        }
    } else if (schema.as<TextSchema>() != nullptr) {
        append(kContent);
    } else {
        append(schema.as<ListSchema>() != nullptr ? kItem : kEntry);
    }
}

}  // namespace

std::string remember_name(std::string_view label) {
    std::string name;
    for (std::size_t at = 0; at < label.size() && name.size() < kLongestName;) {
        const char first = label[at];
        const bool is_upper = first >= 'A' && first <= 'Z';
        const bool stays =
            is_upper || (first >= 'a' && first <= 'z') || (first >= '0' && first <= '9');
        name += is_upper ? static_cast<char>(first - 'A' + 'a') : stays ? first : '_';
        // One '_' for a character of several bytes.
        do ++at;
        while (at < label.size() && (static_cast<unsigned char>(label[at]) & 0xC0U) == 0x80U);
    }
    return "remember_" + name;
}

Map remember_schema(const BlockSchema& schema, const policy::Rights& rights) {
    return Arguments(rights).of(schema);
}

std::vector<RememberedPart> remembered_parts(const BlockSchema& schema, const Map& arguments) {
    std::vector<RememberedPart> out;
    collect(schema, "", arguments, out);
    return out;
}

}  // namespace quire::memory
