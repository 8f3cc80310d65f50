// The structure of a schema before it is compiled: its parts with URIs of their own, their anchors
// and vocabularies, and the targets of references. Internal to this room.
//
// A document is scanned once, when something first refers to it, and only where the standard
// expects schemas: an "$id" inside of an enum is an ordinary value. Nothing is copied: parts and
// targets point into the given schema and documents, which outlive this, or into metaschemas that
// it keeps. All addresses that it hands out are good until its end.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/schema/schema.h"

namespace quire::json::detail {

struct Resource;

// A set of the standard's vocabularies.
using Vocabularies = std::uint8_t;
inline constexpr Vocabularies kCore = 1;
inline constexpr Vocabularies kApplicator = 2;
inline constexpr Vocabularies kUnevaluated = 4;
inline constexpr Vocabularies kValidation = 8;
inline constexpr Vocabularies kMetaData = 16;
inline constexpr Vocabularies kFormatAnnotation = 32;
inline constexpr Vocabularies kContent = 64;
inline constexpr Vocabularies kAllVocabularies = 127;

// The path to a part of a schema, for errors: "#/properties/a". A list from the inside out, whose
// outer steps are shared, so a step costs one node; the text is made for an error only.
struct Trail {
    const Trail* outer = nullptr;
    std::string_view step;
    std::optional<std::size_t> index = std::nullopt;

    std::string text() const;
};

// A schema with a URI of its own, while compiling.
struct SchemaPart {
    // A named place in the part. A dynamic one is also found as a plain one.
    struct Anchor {
        const Value* schema;
        bool dynamic;
    };
    std::string uri;
    const Value* root = nullptr;
    const Trail* trail = nullptr;
    Vocabularies vocabularies = kAllVocabularies;
    std::unordered_map<std::string, Anchor> anchors;
    Resource* compiled = nullptr;  // Set once a schema of it is compiled.
};

// All documents that one compilation uses.
class Documents {
public:
    explicit Documents(const SchemaOptions& options);
    Documents(const Documents&) = delete;
    Documents& operator=(const Documents&) = delete;
    ~Documents();

    // Scans `schema`, which has the URI `uri`. Errors: those of Schema::compile().
    Result<SchemaPart*> load(const Value& schema, const std::string& uri, const Trail& trail);

    // The target of a reference.
    struct Target {
        const Value* schema;
        SchemaPart* part;
        const Trail* trail;
        std::string dynamic_anchor;  // The fragment if it names a dynamic anchor, else "".
    };
    // The target of `reference`, an operand of `keyword` at `trail` in `from`. `reference` must be
    // text of a schema, which outlives this. Opens the document that it names, where that is new.
    // Errors: invalid_argument "invalid_schema" for a target that is not there; those of
    // Schema::compile() for a document that is opened.
    Result<Target> find(std::string_view reference, const SchemaPart& from, const Trail& trail,
                        std::string_view keyword);

    // The part that `schema` belongs to: its own if it has a URI, else `around`. Known only for
    // documents that have been scanned. O(1).
    SchemaPart* part_of(const Value& schema, SchemaPart* around) const;

    const std::vector<std::unique_ptr<SchemaPart>>& parts() const { return parts_; }
    const Trail* trail(const Trail* outer, std::string_view step);
    const Trail* trail(const Trail* outer, std::size_t index);

private:
    // A schema that waits to be scanned, with what is around it.
    struct Found {
        const Value* schema;
        SchemaPart* part;
        const Trail* trail;
        std::size_t nesting;
    };
    Result<SchemaPart*> open(const std::string& uri, const Trail& trail, std::string_view keyword);
    Result<void> look_through(Found root);
    Result<void> register_names(Found& found);
    Result<void> register_anchor(const Found& found, std::string_view keyword, bool dynamic);
    Result<SchemaPart*> add_part(const Value& schema, std::string uri, const Trail& trail,
                                 Vocabularies vocabularies);
    Result<Vocabularies> dialect(const Value& schema, const Trail& trail, Vocabularies otherwise);
    // The document of that URI, not scanned; null for one that is not known.
    const Value* document(std::string_view uri);
    Result<Target> at_pointer(SchemaPart& part, std::string_view pointer, const Trail& trail,
                              std::string_view keyword);

    const SchemaOptions& options_;
    std::deque<Trail> trails_;
    std::deque<std::string> names_;  // Texts that trails begin with.
    std::vector<std::unique_ptr<SchemaPart>> parts_;
    std::unordered_map<std::string, SchemaPart*> by_uri_;
    std::unordered_map<const Value*, SchemaPart*> by_root_;
    std::unordered_map<std::string, std::unique_ptr<const Value>> metaschemas_;
};

// A schema document of the standard by its URI, as JSON; "" for any other URI.
std::string_view metaschema(std::string_view uri);
inline constexpr std::string_view kMetaschema = "https://json-schema.org/draft/2020-12/schema";

// invalid_argument "invalid_schema" {path, keyword}: `what` follows the keyword in the message.
Failure invalid_schema(const Trail& trail, std::string_view keyword, std::string_view what);

}  // namespace quire::json::detail
