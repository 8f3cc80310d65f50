// Two questions about a change of schema: does it touch what agents may not write, and does it only
// add? Both walk the two schemas side by side and look at values only where a read-only part could
// differ.

#include <algorithm>

#include "base/concat.h"
#include "memory/convert.h"
#include "memory/convert_values.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

// A read-only section or field, with its path.
struct Guarded {
    std::string path;
    ReadOnlyBreach as;
    const Section* section = nullptr;
    const Field* field = nullptr;

    bool same_as(const Guarded& other) const {
        return section != nullptr ? other.section != nullptr && *section == *other.section
                                  : other.field != nullptr && *field == *other.field;
    }
};

// A read-only section guards all that is in it, so its inside is not searched.
void guarded_into(const BlockSchema& schema, const std::string& prefix, std::vector<Guarded>& out) {
    const auto below = [&](const std::string& name) {
        return prefix.empty() ? name : cat(prefix, "/", name);
    };
    if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections) {
            if (each.read_only) {
                out.push_back({below(each.name), {true, each.name}, &each, nullptr});
            } else {
                guarded_into(*each.schema, below(each.name), out);
            }
        }
        return;
    }
    if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) {
            if (each.read_only)
                out.push_back({below(each.name), {false, each.name}, nullptr, &each});
        }
    }
}

std::vector<Guarded> guarded_of(const BlockSchema& schema) {
    std::vector<Guarded> out;
    guarded_into(schema, "", out);
    return out;
}

bool equal(const Value* a, const Value* b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// Returns true if fields of `to` hold every value of `from`: added ones are optional, the others
// unchanged. A default must stay: it is what an unset field of every block reads as.
bool additive(const std::vector<Field>& from, const std::vector<Field>& to) {
    return std::ranges::all_of(from,
                               [&](const Field& each) {
                                   const Field* now = find_field(to, each.name);
                                   return now != nullptr && now->type == each.type &&
                                          now->default_value == each.default_value &&
                                          (!now->required || each.required);
                               }) &&
           std::ranges::all_of(to, [&](const Field& each) {
               return find_field(from, each.name) != nullptr || !each.required ||
                      each.default_value.has_value();
           });
}

// Returns true if the limit was not lowered.
bool at_least(const std::optional<std::size_t>& now, const std::optional<std::size_t>& before) {
    return !now || (before && *now >= *before);
}

}  // namespace

// Compares what was protected before, then what is protected only now.
std::optional<ReadOnlyBreach> read_only_breach(const BlockSchema& from, const Value& value,
                                               const BlockSchema& to, const Value& converted) {
    const std::vector<Guarded> before = guarded_of(from);
    const std::vector<Guarded> after = guarded_of(to);
    const Value empty = default_value(to);
    for (const Guarded& each : before) {
        const bool kept = std::ranges::any_of(
            after, [&](const Guarded& now) { return now.path == each.path && now.same_as(each); });
        if (!kept || !equal(conversion::value_at(value, each.path),
                            conversion::value_at(converted, each.path)))
            return each.as;
    }
    for (const Guarded& each : after) {
        const bool old =
            std::ranges::any_of(before, [&](const Guarded& was) { return was.path == each.path; });
        if (!old && !equal(conversion::value_at(empty, each.path),
                           conversion::value_at(converted, each.path)))
            return each.as;
    }
    return std::nullopt;
}

// Each kind of schema has its own way to grow without invalidating a value.
bool is_additive(const BlockSchema& from, const BlockSchema& to) {
    if (from.name() != to.name()) return false;
    if (const auto* map = from.as<MapSchema>())
        return additive(map->fields, to.as<MapSchema>()->fields);
    if (const auto* list = from.as<ListSchema>()) {
        const auto* now = to.as<ListSchema>();
        if (!at_least(now->max_items, list->max_items)) return false;
        if (!now->item_schema) return true;
        return list->item_schema && is_additive(**list->item_schema, **now->item_schema);
    }
    if (const auto* log = from.as<LogSchema>()) {
        const EntrySchema& now = to.as<LogSchema>()->entry;
        const bool headers =
            log->entry.timestamp == now.timestamp && log->entry.agent_id == now.agent_id;
        const bool opened = now.fields.empty();
        const bool closed = log->entry.fields.empty() && !opened;
        return headers && !closed && (opened || additive(log->entry.fields, now.fields));
    }
    if (const auto* composite = from.as<CompositeSchema>()) {
        return std::ranges::all_of(composite->sections, [&](const Section& each) {
            const Section* now = to.section(each.name);
            return now != nullptr && is_additive(*each.schema, *now->schema);
        });
    }
    return true;
}

}  // namespace quire::memory
