// References within one JSON Schema document: their targets, and the repairs that a document needs
// after parts of it were changed or removed.
//
// Supports JSON pointers (with "~1" and "%20"), $anchor, $id of parts of the document, and
// $dynamicRef if the document leaves no choice: a single $dynamicAnchor of that name, or one of the
// root. Nothing is fetched: targets outside of the document are not found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::json {

// The base URI inside of `schema`, which itself lies where the base is `outer`.
std::string base_within(const Value& schema, const std::string& outer);

// Returns true if `schema` has a $ref or a $dynamicRef, at any depth. O(size).
bool has_references(const Value& schema);

// The references of one document.
class SchemaReferences {
public:
    // `root` must outlive this. O(n log n) in its size.
    explicit SchemaReferences(const Value& root);

    struct Target {
        const Value* schema;
        std::string base;  // The base around it, without its own $id.
        std::string path;  // A JSON pointer from the root.
    };
    // The target of a $ref's or $dynamicRef's operand where the base is `base`; nothing if it is
    // not in the document.
    std::optional<Target> find(const std::string& base, std::string_view reference,
                               bool dynamic) const;

    // For each definition, indexed by path: true if something outside of all definitions leads to
    // it.
    std::map<std::string, bool> definitions() const;

private:
    void look_through();

    const Value& root_;
    std::map<std::string, Target> resources_;     // Indexed by URI.
    std::map<std::string, Target> anchors_;       // Indexed by URI#name.
    std::multimap<std::string, Target> dynamic_;  // Indexed by name.
    std::map<std::string, Target> defined_;       // Indexed by path.
};

// Adapts `copy`, a copy of a schema from where the base was `from`, to a place where the base is
// `to`: its references keep their targets, and it loses names that are taken. O(size).
void move_copy(Value& copy, const std::string& from, const std::string& to);

// Repairs `after`, which is `before` (with references `were`) after parts were narrowed or removed.
// Definitions that have become unused are dropped, together with their entries in discriminators. A
// reference to a changed part gets the original part as a definition; a reference to the whole
// document follows it. False if that is impossible; `after` is then useless.
bool mend_references(const Value& before, const SchemaReferences& were, Value& after);

}  // namespace quire::json
