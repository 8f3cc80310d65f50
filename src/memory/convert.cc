// A conversion pairs places. places_of() flattens a schema into its parts; each new place takes its
// value from the old place of the same name or of the mapping, through a reader that knows both
// kinds (convert_values.h). What no place took, and what no reader accepted, is listed in the
// report. A block with a single place goes the other way: its text is split by the names of the new
// places. O(content + places²).

#include "memory/convert.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/concat.h"
#include "memory/convert_values.h"
#include "memory/validate.h"

namespace quire::memory::conversion {
namespace {

constexpr std::string_view kRest = "*";

// A part of a block that holds a value of its own.
struct Place {
    std::string path;
    const BlockSchema* schema = nullptr;  // Set for a Text, a List or a Log; null for a field.
    const Field* field = nullptr;
};

// In the schema's order, which is the order of the report.
void places_into(const BlockSchema& schema, const std::string& prefix, std::vector<Place>& out) {
    const auto below = [&](const std::string& name) {
        return prefix.empty() ? name : cat(prefix, "/", name);
    };
    if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections)
            places_into(*each.schema, below(each.name), out);
    } else if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) out.push_back({below(each.name), nullptr, &each});
    } else {
        out.push_back({prefix, &schema, nullptr});
    }
}

std::vector<Place> places_of(const BlockSchema& schema) {
    std::vector<Place> out;
    places_into(schema, "", out);
    return out;
}

const Place* find(const std::vector<Place>& places, std::string_view path) {
    const auto at = std::ranges::find(places, path, &Place::path);
    return at == places.end() ? nullptr : &*at;
}

// Puts `what` at the path, and makes the objects on the way there.
void put_at(Value& value, std::string_view path, Value what, bool in_composite) {
    if (path.empty()) {
        value = std::move(what);
        return;
    }
    if (!value.is_map()) value = Map{};
    const std::size_t slash = in_composite ? path.find('/') : std::string_view::npos;
    if (slash == std::string_view::npos) {
        value.as_map().set(path, std::move(what));
        return;
    }
    Map& members = value.as_map();
    Value* inner = members.find(path.substr(0, slash));
    if (inner == nullptr) inner = &members.set(path.substr(0, slash), Map{});
    put_at(*inner, path.substr(slash + 1), std::move(what), in_composite);
}

class Converter {
public:
    Converter(const BlockSchema& from, const Value& value, const BlockSchema& to,
              const Map& mapping)
        : value_(value),
          to_(to),
          mapping_(mapping),
          old_(places_of(from)),
          new_(places_of(to)),
          splits_(old_.size() == 1 && old_.front().path.empty() && value.is_string() &&
                  !(new_.size() == 1 && new_.front().path.empty())) {
        out_.value = default_value(to);
    }

    // Fills the places, reports what was lost, and lists required fields that stayed empty.
    Result<Conversion> run() {
        TRY(check_mapping());
        if (splits_) {
            split();
        } else {
            for (const Place& place : new_) fill(place, source_of(place));
            for (const Place& place : old_) report_lost(place);
        }
        for (const Place& place : new_) {
            const bool wanted =
                place.field != nullptr && place.field->required && !place.field->default_value;
            if (wanted && !filled(place.path)) out_.unset.push_back(place.path);
        }
        return std::move(out_);
    }

private:
    Failure bad_place(std::string_view place, std::string_view why) const {
        return invalid("invalid_mapping", cat("the mapping names '", place, "', ", why),
                       {{"place", place}});
    }
    // A mapping may only name places that exist, on both sides.
    Result<void> check_mapping() const {
        for (const Map::Entry& each : mapping_) {
            if (find(new_, each.key) == nullptr)
                return bad_place(each.key, "which the new schema does not have");
            if (!each.value.is_string()) return bad_place(each.key, "but its value is not text");
            if (!splits_ && find(old_, each.value.as_string()) == nullptr)
                return bad_place(each.value.as_string(), "which the block does not have");
        }
        return {};
    }
    std::string source_of(const Place& place) const {
        const Value* mapped = mapping_.find(place.path);
        return mapped == nullptr ? place.path : mapped->as_string();
    }
    bool filled(std::string_view path) const {
        return std::ranges::any_of(out_.moved, [&](const auto& move) { return move.to == path; });
    }

    // Takes the value from the old place that the mapping or the name gives.
    void fill(const Place& place, const std::string& source) {
        if (find(old_, source) != nullptr) {
            if (const Value* value = value_at(value_, source)) fill_with(place, *value, source);
        } else if (source.empty()) {
            // Everything that the block holds goes into the only new place.
            for (const Place& each : old_) used_.push_back(each.path);
            const bool is_text = place.schema->as<TextSchema>() != nullptr;
            fill_with(place, is_text ? Value(lines_from(value_)) : value_, source);
        }
    }
    // Elements that do not fit are counted; a value that does not fit at all is quoted.
    void fill_with(const Place& place, const Value& value, const std::string& source) {
        std::optional<Value> made;
        std::size_t lost = 0;
        if (place.field != nullptr) {
            made = field_from(*place.field, value);
        } else if (place.schema->as<TextSchema>() != nullptr) {
            made = Value(text_of(value));
        } else {
            made = Value(elements_from(*place.schema, value, lost));
        }
        if (!made) {
            out_.lost.push_back(cat(source, ": '", beginning(text_of(value)), "' is not a ",
                                    name_of(place.field->type), " for ", place.path));
            used_.push_back(source);
            return;
        }
        if (lost > 0) {
            out_.lost.push_back(
                cat(source, ": ", lost, " of its elements do not fit ", place.path));
        }
        put_at(out_.value, place.path, std::move(*made), to_.as<CompositeSchema>() != nullptr);
        out_.moved.push_back({source, place.path});
        used_.push_back(source);
    }
    // Content that no new place took is reported, unless it is blank.
    void report_lost(const Place& place) {
        if (std::ranges::find(used_, place.path) != used_.end()) return;
        const Value* value = value_at(value_, place.path);
        if (value == nullptr || value->is_null()) return;
        const std::string text = text_of(*value);
        if (!trimmed(text).empty())
            out_.lost.push_back(cat(place.path, ": '", beginning(text), "'"));
    }

    // Splits one text over the places that it mentions. Names are compared folded, as people write
    // headings. The place that the mapping gives "*" takes the lines that no other took; without
    // one they are lost.
    void split() {
        const bool by_heading = to_.as<CompositeSchema>() != nullptr;
        const std::string& text = value_.as_string();
        std::vector<std::string> names;
        std::map<std::string, const Place*> wanted;
        const Place* rest = nullptr;
        for (const Place& place : new_) {
            const std::string source = source_of(place);
            if (source == kRest) {
                rest = &place;
                continue;
            }
            names.push_back(folded(source));
            wanted.emplace(names.back(), &place);
        }
        NamedTexts named =
            by_heading ? texts_by_heading(text, section_names(names)) : texts_by_line(text, names);
        if (by_heading) split_into_fields(named, wanted);
        for (const Place& place : new_) {
            const auto part = named.by_name.find(folded(source_of(place)));
            if (part != named.by_name.end() && &place != rest)
                fill_with(place, Value(part->second), part->first);
        }
        if (trimmed(named.rest).empty()) return;
        if (rest != nullptr) {
            fill_with(*rest, Value(named.rest), std::string(kRest));
        } else {
            out_.lost.push_back(
                cat("lines that match no place, beginning with '", beginning(named.rest), "'"));
        }
    }
    // The names of sections, including those whose fields are places.
    static std::vector<std::string> section_names(const std::vector<std::string>& names) {
        std::vector<std::string> out = names;
        for (const std::string& name : names) {
            const std::size_t slash = name.rfind('/');
            if (slash != std::string::npos) out.push_back(name.substr(0, slash));
        }
        return out;
    }
    // Splits the text of a Map's section further, by its fields.
    static void split_into_fields(NamedTexts& named,
                                  const std::map<std::string, const Place*>& wanted) {
        const std::map<std::string, std::string> sections = named.by_name;
        for (const auto& [section, text] : sections) {
            if (wanted.contains(section)) continue;
            std::vector<std::string> fields;
            for (const auto& [name, place] : wanted) {
                if (name.starts_with(section + "/"))
                    fields.push_back(name.substr(section.size() + 1));
            }
            NamedTexts inner = texts_by_line(text, fields);
            for (auto& [field, part] : inner.by_name)
                named.by_name[cat(section, "/", field)] = std::move(part);
            named.rest += inner.rest;
            named.by_name.erase(section);
        }
    }

    const Value& value_;
    const BlockSchema& to_;
    const Map& mapping_;
    std::vector<Place> old_;
    std::vector<Place> new_;
    const bool splits_;
    std::vector<std::string> used_;
    Conversion out_;
};

}  // namespace
}  // namespace quire::memory::conversion

namespace quire::memory {

Result<Conversion> convert(const BlockSchema& from, const Value& value, const BlockSchema& to,
                           const Map& mapping) {
    return conversion::Converter(from, value, to, mapping).run();
}

}  // namespace quire::memory
