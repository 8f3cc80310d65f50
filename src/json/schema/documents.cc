// A reference is resolved in three steps: its URI against the base of the part it stands in, the
// URI to a part (a document is opened on first use: the schema itself, one each with it, or a
// metaschema of the standard), and the fragment to a place in that part, by JSON pointer or by
// anchor. Parts are found by scanning each document once with an explicit stack; every schema's
// nearest enclosing part is known from the scan, since an $id within changes the base of everything
// below it.

#include "json/schema/documents.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/schema/keywords.h"
#include "json/schema/uri.h"

namespace quire::json::detail {
namespace {

struct VocabularyName {
    std::string_view name;
    Vocabularies bit;
};
constexpr std::string_view kVocabularyRoot = "https://json-schema.org/draft/2020-12/vocab/";
constexpr std::array<VocabularyName, 7> kVocabularyNames = {
    {{"core", kCore},
     {"applicator", kApplicator},
     {"unevaluated", kUnevaluated},
     {"validation", kValidation},
     {"meta-data", kMetaData},
     {"format-annotation", kFormatAnnotation},
     {"content", kContent}}};

// Each part stores its own URI, which begins with that of the part around it.
constexpr std::size_t kLongestUri = 2048;

Vocabularies vocabulary_named(std::string_view uri) {
    if (!uri.starts_with(kVocabularyRoot)) return 0;
    uri.remove_prefix(kVocabularyRoot.size());
    for (const VocabularyName& known : kVocabularyNames) {
        if (known.name == uri) return known.bit;
    }
    return 0;
}

std::string_view without_empty_fragment(std::string_view uri) {
    if (uri.ends_with('#')) uri.remove_suffix(1);
    return uri;
}

// The beginning of a text, for messages.
std::string brief(std::string_view text) {
    constexpr std::size_t kShown = 200;
    const std::string_view head = utf8::prefix(text, kShown);
    return head.size() == text.size() ? std::string(text) : cat(head, "…");
}

}  // namespace

std::string Trail::text() const {
    // Built from the inside out without recursion, since paths can be long.
    std::vector<const Trail*> steps;
    for (const Trail* at = this; at != nullptr; at = at->outer) steps.push_back(at);
    std::string text;
    for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
        if (at != steps.rbegin()) text.push_back('/');
        if ((*at)->index) {
            cat_to(text, *(*at)->index);
            continue;
        }
        if (at == steps.rbegin()) {
            text.append((*at)->step);
            continue;
        }
        text.append(escaped_step(utf8::prefix((*at)->step, 64)));
    }
    return text;
}

Failure invalid_schema(const Trail& trail, std::string_view keyword, std::string_view what) {
    const std::string path = trail.text();
    return invalid("invalid_schema", cat("the schema at '", path, "': ", keyword, " ", what),
                   {{"path", path}, {"keyword", keyword}});
}

Documents::Documents(const SchemaOptions& options) : options_(options) {}
Documents::~Documents() = default;

const Trail* Documents::trail(const Trail* outer, std::string_view step) {
    return &trails_.emplace_back(Trail{outer, step});
}

const Trail* Documents::trail(const Trail* outer, std::size_t index) {
    return &trails_.emplace_back(Trail{outer, {}, index});
}

SchemaPart* Documents::part_of(const Value& schema, SchemaPart* around) const {
    const auto own = by_root_.find(&schema);
    return own == by_root_.end() ? around : own->second;
}

// Looks among the given documents by URI and by $id, then among the standard's metaschemas. Nothing
// is fetched: a schema can name no host that would then be asked. A metaschema is parsed when it is
// first used, and kept.
const Value* Documents::document(std::string_view uri) {
    for (const SchemaDocument& each : options_.documents) {
        if (each.uri == uri) return each.schema;
    }
    for (const SchemaDocument& each : options_.documents) {
        const Value* id = each.schema->get("$id");
        if (id != nullptr && id->is_string() && resolve_uri(each.uri, id->as_string()).uri == uri) {
            return each.schema;
        }
    }
    auto& known = metaschemas_[std::string(uri)];
    if (known == nullptr) {
        const std::string_view text = metaschema(uri);
        if (text.empty()) return nullptr;
        auto value = parse(text);
        CHECK(value);
        known = std::make_unique<const Value>(std::move(*value));
    }
    return known.get();
}

// The vocabularies in use, from the metaschema that $schema names. A schema without $schema is in
// the dialect of the part around it. A vocabulary that is not known is an error only if the
// metaschema requires it.
Result<Vocabularies> Documents::dialect(const Value& schema, const Trail& trail,
                                        Vocabularies otherwise) {
    const Value* named = schema.get("$schema");
    if (named == nullptr) return otherwise;
    if (!named->is_string()) return invalid_schema(trail, "$schema", "must be a URI");
    const std::string_view uri = without_empty_fragment(named->as_string());
    if (uri == kMetaschema) return kAllVocabularies;

    const Value* meta = document(uri);
    if (meta == nullptr) {
        const std::string path = trail.text();
        return fail(Errc::unsupported, "unsupported_dialect",
                    cat("the schema at '", path, "' is written in ", brief(uri),
                        ", which is not known here; what is known is ", kMetaschema,
                        " and the metaschemas given with the schema"),
                    {{"path", path}, {"keyword", "$schema"}, {"dialect", uri}});
    }
    const Value* required = meta->get("$vocabulary");
    if (required == nullptr) return kAllVocabularies;
    if (!required->is_map()) {
        return invalid_schema(Trail{.step = uri}, "$vocabulary", "must be an object");
    }
    Vocabularies set = kCore;
    for (const Map::Entry& entry : required->as_map()) {
        const Vocabularies bit = vocabulary_named(entry.key);
        if (bit == 0 && entry.value == Value(true)) {
            const std::string path = trail.text();
            return fail(Errc::unsupported, "unsupported_vocabulary",
                        cat("the metaschema ", brief(uri), " requires the vocabulary ",
                            brief(entry.key), ", which is not known here"),
                        {{"path", path}, {"keyword", "$schema"}, {"vocabulary", entry.key}});
        }
        set |= bit;
    }
    return set;
}

// Two schemas must not have the same URI.
Result<SchemaPart*> Documents::add_part(const Value& schema, std::string uri, const Trail& trail,
                                        Vocabularies vocabularies) {
    auto part = std::make_unique<SchemaPart>();
    part->root = &schema;
    part->trail = &trail;
    part->vocabularies = TRY(dialect(schema, trail, vocabularies));
    const auto [at, added] = by_uri_.emplace(uri, part.get());
    if (!added && at->second->root != &schema) {
        return invalid_schema(trail, "$id", cat("is that of another schema: ", brief(uri)));
    }
    part->uri = std::move(uri);
    by_root_.emplace(&schema, part.get());
    return parts_.emplace_back(std::move(part)).get();
}

// The schema gets two names if its $id differs from the URI it was found at.
Result<SchemaPart*> Documents::load(const Value& schema, const std::string& uri,
                                    const Trail& trail) {
    std::string own = uri;
    if (const Value* id = schema.get("$id"); id != nullptr && id->is_string()) {
        own = resolve_uri(uri, id->as_string()).uri;
    }
    SchemaPart* part = TRY(add_part(schema, own, trail, kAllVocabularies));
    by_uri_.emplace(uri, part);
    TRY(look_through({&schema, part, &trail, 0}));
    return part;
}

// One schema may have the same anchor twice, as both kinds.
Result<void> Documents::register_anchor(const Found& found, std::string_view keyword,
                                        bool dynamic) {
    const Value* name = found.schema->get(keyword);
    if (name == nullptr) return {};
    if (!name->is_string() || !is_anchor(name->as_string())) {
        return invalid_schema(*found.trail, keyword,
                              "must be a letter or _, followed by letters, digits, - _ or .");
    }
    const auto [at, added] =
        found.part->anchors.emplace(name->as_string(), SchemaPart::Anchor{found.schema, dynamic});
    if (!added && at->second.schema != found.schema) {
        return invalid_schema(*found.trail, keyword,
                              cat("'", brief(name->as_string()), "' is there twice"));
    }
    at->second.dynamic = at->second.dynamic || dynamic;
    return {};
}

// Registers $id, $schema and the anchors of one schema.
Result<void> Documents::register_names(Found& found) {
    const Value& schema = *found.schema;
    if (const Value* id = schema.get("$id")) {
        if (!id->is_string()) return invalid_schema(*found.trail, "$id", "must be a URI");
        Reference own = resolve_uri(found.part->uri, id->as_string());
        if (!own.fragment.empty()) {
            return invalid_schema(*found.trail, "$id",
                                  "must have no fragment; a name within a schema is an $anchor");
        }
        if (own.uri.size() > kLongestUri) {
            return invalid_schema(*found.trail, "$id",
                                  cat("is, with its base, longer than ", kLongestUri, " bytes"));
        }
        if (found.part->root != &schema) {
            found.part =
                TRY(add_part(schema, std::move(own.uri), *found.trail, found.part->vocabularies));
        }
    }
    TRY(register_anchor(found, "$anchor", false));
    return register_anchor(found, "$dynamicAnchor", true);
}

// Follows only operands that the keyword table marks as schemas. An explicit stack, since the
// nesting is the schema's author's choice.
Result<void> Documents::look_through(Found root) {
    std::vector<Found> waiting = {root};
    while (!waiting.empty()) {
        Found found = waiting.back();
        waiting.pop_back();
        // Compiling decides whether other values are allowed.
        if (!found.schema->is_map()) continue;
        if (found.nesting == Schema::kNesting) {
            return invalid_schema(*found.trail, "the schema",
                                  cat("nests deeper than ", Schema::kNesting));
        }
        TRY(register_names(found));

        const auto push = [&](const Value& schema, const Trail* trail) {
            waiting.push_back({&schema, found.part, trail, found.nesting + 1});
        };
        for (const Map::Entry& entry : found.schema->as_map()) {
            const Keyword* keyword = keyword_named(entry.key, found.part->vocabularies);
            if (keyword == nullptr || keyword->operand == Operand::value) continue;
            const Trail* at = trail(found.trail, keyword->name);
            if (keyword->operand == Operand::schema) {
                push(entry.value, at);
            } else if (keyword->operand == Operand::schemas && entry.value.is_list()) {
                std::size_t index = 0;
                for (const Value& item : entry.value.as_list()) push(item, trail(at, index++));
            } else if (keyword->operand == Operand::named_schemas && entry.value.is_map()) {
                for (const Map::Entry& named : entry.value.as_map()) {
                    push(named.value, trail(at, named.key));
                }
            }
        }
    }
    return {};
}

// Opens a document on first use.
Result<SchemaPart*> Documents::open(const std::string& uri, const Trail& trail,
                                    std::string_view keyword) {
    if (const auto known = by_uri_.find(uri); known != by_uri_.end()) return known->second;
    const Value* schema = document(uri);
    if (schema == nullptr) {
        return invalid_schema(trail, keyword,
                              cat("names ", brief(uri),
                                  ", which is neither in the schema nor among the documents given "
                                  "with it; nothing is fetched"));
    }
    // The document may be known already under another of its names.
    if (SchemaPart* part = part_of(*schema, nullptr)) {
        by_uri_.emplace(uri, part);
        return part;
    }
    return load(*schema, uri, *this->trail(nullptr, names_.emplace_back(cat(uri, "#"))));
}

// Tracks the enclosing part on the way down, since an $id changes the base.
Result<Documents::Target> Documents::at_pointer(SchemaPart& part, std::string_view pointer,
                                                const Trail& trail, std::string_view keyword) {
    const auto steps = pointer_steps(pointer);
    if (!steps) return invalid_schema(trail, keyword, "has a fragment that is no JSON pointer");
    const Value* at = part.root;
    SchemaPart* around = &part;
    for (const std::string& step : *steps) {
        at = step_below(*at, step);
        if (at == nullptr) {
            return invalid_schema(trail, keyword,
                                  cat("points at ", brief(pointer), ", where nothing is"));
        }
        around = part_of(*at, around);
    }
    return Target{at, around, nullptr, ""};
}

// A URI without fragment names the part itself.
Result<Documents::Target> Documents::find(std::string_view reference, const SchemaPart& from,
                                          const Trail& trail, std::string_view keyword) {
    const Reference wanted = resolve_uri(from.uri, reference);
    SchemaPart* part = TRY(open(wanted.uri, trail, keyword));
    if (wanted.fragment.empty()) return Target{part->root, part, part->trail, ""};
    const Trail* here = this->trail(nullptr, reference);
    if (wanted.fragment[0] == '/') {
        Target target = TRY(at_pointer(*part, wanted.fragment, trail, keyword));
        target.trail = here;
        return target;
    }

    const auto anchor = part->anchors.find(wanted.fragment);
    if (anchor == part->anchors.end()) {
        return invalid_schema(
            trail, keyword,
            cat("names the anchor '", brief(wanted.fragment), "', which ",
                part->uri.empty() ? "the schema" : brief(part->uri), " does not have"));
    }
    return Target{anchor->second.schema, part, here, anchor->second.dynamic ? wanted.fragment : ""};
}

}  // namespace quire::json::detail
