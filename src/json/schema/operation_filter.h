// The operations of a tool in its JSON Schema: which are left where a rule allows only some.
//
// A tool that does several things has an argument that says which ("operation": "delete"). What a
// rule takes away disappears from the schema that is published: the word itself, the branch that is
// its own, the parameters that nothing else takes, examples and defaults that speak of it. Pure;
// cost O(size of the schema).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace quire::json {

// `schema`, of an object, with the words of the member `field` that are `allowed`: no other string
// fits the member afterwards, nor a list with another in it, and a call with an allowed word that
// did fit still does.
//
// Looked into is what applies to the object itself: properties, patternProperties,
// additionalProperties, unevaluatedProperties, dependentSchemas, allOf, anyOf, oneOf, not, if,
// then, else, $ref and $dynamicRef (schema_references.h says which), and in the member the same and
// items, prefixItems, unevaluatedItems, contains. A branch of which no word is left goes; so do
// defaults and examples that name another word, entries of a discriminator's mapping, and the
// definitions that were used and are not any more. Lists beside an enum that have "num" in their
// name and its length keep its step. A member that takes any string is given the enum, and so is
// the whole where some way past its branches takes the member unseen.
//
// A definition that others share, and an entry for other names, stay as they were; what refers to
// the whole document follows it. Where no word is left, the enum is empty. A schema without such a
// member is returned as it was; one that lets in any name has it where it names words for it, or
// requires it. Beyond 256 schemas within each other, or 100,000 values that references unfold to,
// only the member itself is left of the schema.
Value filter_schema_enum(Value schema, std::string_view field,
                         std::span<const std::string> allowed);

// `schema`, of an object, without these of its members, wherever else it names them: in required,
// in dependentRequired and dependentSchemas, and in the examples and the default of the whole.
Value without_members(Value schema, std::span<const std::string> names);

}  // namespace quire::json
