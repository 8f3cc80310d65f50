// A translation rebuilds the schema from the outside in, keyword by keyword, with a table of what
// each keyword's operand holds (one schema, several, schemas by name, or a value that is copied).
// Since keywords move, JSON pointers in references have to move with them: reference() walks the
// pointer through the old document and writes the step that each old step has become.

#include "json/schema/dialect.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "json/schema/uri.h"

namespace quire::json {
namespace {

enum class Dialect { draft_07, draft_2019_09, draft_2020_12 };

// Dialects are compared without the URI's scheme and without an empty fragment.
std::optional<Dialect> dialect_named(std::string_view uri) {
    if (uri.ends_with('#')) uri.remove_suffix(1);
    if (uri.starts_with("https://")) uri.remove_prefix(8);
    if (uri.starts_with("http://")) uri.remove_prefix(7);
    if (uri == "json-schema.org/draft-07/schema") return Dialect::draft_07;
    if (uri == "json-schema.org/draft/2019-09/schema") return Dialect::draft_2019_09;
    if (uri == "json-schema.org/draft/2020-12/schema") return Dialect::draft_2020_12;
    return std::nullopt;
}

Failure unsupported(std::string_view dialect, std::string_view what) {
    return fail(Errc::unsupported, "unsupported_dialect",
                cat("the schema ", what, "; draft-07, 2019-09 and 2020-12 are understood"),
                {{"dialect", dialect}});
}

template <std::size_t n>
bool among(const std::array<std::string_view, n>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// The contents of each keyword's operand, in any of the dialects.
constexpr std::array<std::string_view, 12> kOneSchema = {"additionalItems",
                                                         "additionalProperties",
                                                         "propertyNames",
                                                         "contains",
                                                         "not",
                                                         "if",
                                                         "then",
                                                         "else",
                                                         "items",
                                                         "unevaluatedItems",
                                                         "unevaluatedProperties",
                                                         "contentSchema"};
constexpr std::array<std::string_view, 6> kNamedSchemas = {
    "properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"};
constexpr std::array<std::string_view, 4> kSchemaLists = {"allOf", "anyOf", "oneOf", "prefixItems"};
// Keywords that draft-07 does not have and therefore ignores.
constexpr std::array<std::string_view, 13> kLaterKeywords = {
    "prefixItems",     "dependentRequired",     "dependentSchemas", "unevaluatedItems",
    "minContains",     "unevaluatedProperties", "maxContains",      "contentSchema",
    "$anchor",         "$dynamicAnchor",        "$dynamicRef",      "$recursiveRef",
    "$recursiveAnchor"};

// The present place of definitions: named schemas are looked up only there.
std::string_view definitions_now(const Map& of) {
    return of.contains("$defs") ? "definitions" : "$defs";
}

// Translates one document.
class Translation {
public:
    Translation(const Value& root, Dialect from) : root_(root), from_(from) {}

    Result<Value> schema(const Value& from, std::size_t depth) const;

private:
    Result<void> member(const Map& of, const Map::Entry& each, Map& out, std::size_t depth) const;
    Result<void> items(const Map& of, const Map::Entry& each, Map& out, std::size_t depth) const;
    Result<void> dependencies(const Value& all, Map& out, std::size_t depth) const;
    Result<void> id(const Value& id, Map& out) const;
    Result<Value> operand(std::string_view keyword, const Value& value, std::size_t depth) const;
    std::string reference(const std::string& to) const;

    const Value& root_;
    const Dialect from_;
};

// Translates keyword by keyword; beside a $ref draft-07 ignores everything but definitions.
Result<Value> Translation::schema(const Value& from, std::size_t depth) const {
    if (depth > kDialectNesting) {
        return fail(Errc::out_of_range, "schema_too_large",
                    cat("the schema is nested deeper than ", kDialectNesting, " levels"),
                    {{"limit", kDialectNesting}});
    }
    if (!from.is_map()) return from;
    const Map& members = from.as_map();
    const bool refers = from_ == Dialect::draft_07 && members.contains("$ref");
    Map out;
    for (const Map::Entry& each : members) {
        const bool counts = each.key == "$ref" || each.key == "definitions" ||
                            each.key == "$defs" || each.key == "title" || each.key == "description";
        if (refers && !counts) continue;
        TRY(member(members, each, out, depth + 1));
    }
    return Value(std::move(out));
}

// Copies, renames or drops one keyword, by dialect.
Result<void> Translation::member(const Map& of, const Map::Entry& each, Map& out,
                                 std::size_t depth) const {
    const std::string& key = each.key;
    const Value& value = each.value;
    if (key == "$schema") {
        const auto named = value.is_string() ? dialect_named(value.as_string()) : std::nullopt;
        if (named == from_) return {};
        return unsupported(value.is_string() ? value.as_string() : "",
                           "holds a part of another dialect");
    }
    if (from_ == Dialect::draft_07 && among(kLaterKeywords, key)) return {};
    if (key == "$ref" && value.is_string()) {
        out.append(key, reference(value.as_string()));
        return {};
    }
    if (key == "$recursiveRef") {
        out.set("$ref", "#");
        return {};
    }
    if (key == "$recursiveAnchor") {
        if (value != Value(true)) return {};
        return unsupported("", "has a $recursiveAnchor, which is not translated");
    }
    if (key == "$id" && from_ == Dialect::draft_07) return id(value, out);
    if (key == "items" || key == "additionalItems") return items(of, each, out, depth);
    if (key == "dependencies") return dependencies(value, out, depth);
    if (key == "definitions") {
        out.append(std::string(definitions_now(of)), TRY(operand(key, value, depth)));
        return {};
    }
    out.append(key, TRY(operand(key, value, depth)));
    return {};
}

// Translates the schemas inside of an operand and copies everything else.
Result<Value> Translation::operand(std::string_view keyword, const Value& value,
                                   std::size_t depth) const {
    if (among(kOneSchema, keyword)) return schema(value, depth);
    if (among(kSchemaLists, keyword) && value.is_list()) {
        List out;
        for (const Value& each : value.as_list()) out.push_back(TRY(schema(each, depth)));
        return Value(std::move(out));
    }
    if (among(kNamedSchemas, keyword) && value.is_map()) {
        Map out;
        for (const Map::Entry& each : value.as_map())
            out.append(each.key, TRY(schema(each.value, depth)));
        return Value(std::move(out));
    }
    return value;
}

// An array of items becomes prefixItems, and additionalItems then takes the name items.
Result<void> Translation::items(const Map& of, const Map::Entry& each, Map& out,
                                std::size_t depth) const {
    const Value* const all = of.find("items");
    const bool listed = all != nullptr && all->is_list();
    if (each.key == "additionalItems") {
        // Alone, an array of items needs no `items` beside its prefixItems.
        if (listed) out.set("items", TRY(schema(each.value, depth)));
        return {};
    }
    if (!listed) {
        out.append("items", TRY(schema(each.value, depth)));
        return {};
    }
    List first;
    for (const Value& one : each.value.as_list()) first.push_back(TRY(schema(one, depth)));
    // An empty array asserts nothing, and 2020-12 does not allow it.
    if (!first.empty()) out.append("prefixItems", std::move(first));
    return {};
}

// Each dependency is either a list of names or a schema; 2020-12 has a keyword for each.
Result<void> Translation::dependencies(const Value& all, Map& out, std::size_t depth) const {
    if (!all.is_map()) {
        out.append("dependentSchemas", all);  // Left for the compiler to refuse.
        return {};
    }
    Map required;
    Map schemas;
    for (const Map::Entry& each : all.as_map()) {
        if (each.value.is_list()) {
            required.append(each.key, each.value);
        } else {
            schemas.append(each.key, TRY(schema(each.value, depth)));
        }
    }
    if (!required.empty()) out.set("dependentRequired", std::move(required));
    if (!schemas.empty()) out.set("dependentSchemas", std::move(schemas));
    return {};
}

// An $id that is only a fragment becomes an $anchor.
Result<void> Translation::id(const Value& id, Map& out) const {
    if (!id.is_string()) {
        out.append("$id", id);
        return {};
    }
    const std::string& uri = id.as_string();
    const std::size_t hash = uri.find('#');
    if (hash == 0 && uri.size() > 1) {
        out.append("$anchor", uri.substr(1));
    } else if (hash == std::string::npos || hash + 1 == uri.size()) {
        if (hash != 0) out.append("$id", uri.substr(0, hash));
    } else {
        return unsupported("", "has an $id with both a name and a fragment");
    }
    return {};
}

// The kind of thing at a step of a pointer.
enum class Place { schema, named, listed, other };

Place below(const Value* at, std::string_view keyword) {
    if (keyword == "items") {
        const Value* const items = at == nullptr ? nullptr : at->get("items");
        return items != nullptr && items->is_list() ? Place::listed : Place::schema;
    }
    if (among(kOneSchema, keyword)) return Place::schema;
    if (among(kSchemaLists, keyword)) return Place::listed;
    return among(kNamedSchemas, keyword) ? Place::named : Place::other;
}

// The present keyword for a step of an old pointer.
std::string_view step_now(const Value* at, std::string_view keyword) {
    const Value* const items = at == nullptr ? nullptr : at->get("items");
    const bool listed = items != nullptr && items->is_list();
    if (keyword == "items" && listed) return "prefixItems";
    if (keyword == "additionalItems" && listed) return "items";
    if (keyword == "dependencies") return "dependentSchemas";
    if (keyword == "definitions" && at != nullptr && at->is_map())
        return definitions_now(at->as_map());
    return keyword;
}

// Rewrites each step of a pointer along the old document.
std::string Translation::reference(const std::string& to) const {
    if (!to.starts_with("#/")) return to;
    std::string out = "#";
    const Value* at = &root_;
    Place place = Place::schema;
    for (std::string_view rest = std::string_view(to).substr(1); !rest.empty();) {
        rest.remove_prefix(1);
        const std::string_view key = rest.substr(0, rest.find('/'));
        rest.remove_prefix(key.size());
        cat_to(out, cat("/", place == Place::schema ? step_now(at, key) : key));
        const Place next = place == Place::schema  ? below(at, key)
                           : place == Place::other ? Place::other
                                                   : Place::schema;
        at = at == nullptr ? nullptr : detail::step_below(*at, key);
        place = next;
    }
    return out;
}

}  // namespace

// The dialect is taken from $schema, which the result loses.
Result<Value> in_2020_12(Value schema) {
    const Value* const named = schema.get("$schema");
    if (named == nullptr) return schema;
    const std::string uri = named->is_string() ? named->as_string() : "";
    const std::optional<Dialect> dialect = dialect_named(uri);
    if (!dialect) return unsupported(uri, cat("is of the dialect '", uri.substr(0, 200), "'"));
    if (*dialect == Dialect::draft_2020_12) {
        schema.as_map().erase("$schema");
        return schema;
    }
    return Translation(schema, *dialect).schema(schema, 0);
}

}  // namespace quire::json
