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

namespace quire::policy {

// `schema`, of an object, with the words of the member `field` that are `allowed`. Wherever the
// words stand: in an enum or a const, in the const of oneOf and anyOf, in the items of an array,
// behind a $ref within the schema, in objects of their own (oneOf or anyOf of the whole, allOf with
// if and then). A branch of which no word is left goes, and definitions go that only it used;
// defaults and examples go that name another word; a list of descriptions beside an enum keeps its
// step. A member that takes any string is given the enum. Where no word is left, the enum is empty.
// A schema without such a member is returned as it was.
Value filter_schema_enum(Value schema, std::string_view field,
                         std::span<const std::string> allowed);

// The words that the member `field` of an object may be, as far as the schema lists them: those
// that filter_schema_enum() looks at, in their order, each once. O(size).
std::vector<std::string> words_of_member(const Value& schema, std::string_view field);

// `schema`, of an object, without these of its members, wherever else it names them: in required,
// in dependentRequired and dependentSchemas, and in the examples and the default of the whole.
Value without_members(Value schema, std::span<const std::string> names);

}  // namespace quire::policy
