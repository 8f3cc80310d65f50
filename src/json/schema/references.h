// References within one JSON Schema document: what each names, and the repairs that a document
// needs when parts of it have changed or gone.
//
// Known are JSON pointers ("~1" and "%20" as the standards have them), $anchor, $id of parts of the
// document, and $dynamicRef where the document leaves no choice: one such $dynamicAnchor, or one of
// the root. Nothing is fetched: what lies outside of the document is not found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::json {

// The base URI of what is in `schema`, which itself stands where the base is `outer`.
std::string base_within(const Value& schema, const std::string& outer);

// `schema` has a $ref or a $dynamicRef, at any depth. O(size).
bool has_references(const Value& schema);

class SchemaReferences {
public:
    // `root` outlives this. O(n log n) in its size.
    explicit SchemaReferences(const Value& root);

    struct Target {
        const Value* schema;
        std::string base;  // Where it stands, outside of an $id of its own.
        std::string path;  // As a JSON pointer from the root.
    };
    // What the operand of a $ref, or of a $dynamicRef, names where the base is `base`.
    std::optional<Target> find(const std::string& base, std::string_view reference,
                               bool dynamic) const;

    // Of each definition, by its path, whether something outside of all definitions leads to it.
    std::map<std::string, bool> definitions() const;

private:
    void look_through();

    const Value& root_;
    std::map<std::string, Target> resources_;     // By URI.
    std::map<std::string, Target> anchors_;       // By URI#name.
    std::multimap<std::string, Target> dynamic_;  // By name.
    std::map<std::string, Target> defined_;       // By path.
};

// Makes `copy`, of a schema that stood where the base is `from`, one that may stand where it is
// `to`: its references name what they named, and it takes no name that is taken. O(size).
void move_copy(Value& copy, const std::string& from, const std::string& to);

// `after` is `before`, whose references are `were`, with some parts narrowed or gone. The
// definitions that were used and are not now are dropped, with what a discriminator says of them,
// and a reference from elsewhere to what has changed is given the definition as it was. One to the
// whole follows the whole. False where that cannot be done; `after` is then of no use.
bool mend_references(const Value& before, const SchemaReferences& were, Value& after);

}  // namespace quire::json
