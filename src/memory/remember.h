// Remember: the arguments of a tool that writes to one memory block, made from the block's schema.
//
//     Text        content, which is appended
//     Map         each field that may be written
//     List        item, which is appended
//     Log         entry, which is appended; the time and the agent are filled in
//     Composite   an object for each section that may be written, with these arguments inside
//
// The arguments lack whatever the writer may not write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "memory/block_schema.h"
#include "memory/field_path.h"
#include "policy/rights.h"

namespace quire::memory {

// The tool's name for a label: "remember_" and the label in lower case, with '_' for every character
// that is no letter of English and no digit, at most 55 of them.
std::string remember_name(std::string_view label);

// The JSON Schema of the arguments; its "properties" are empty for a writer who may write nothing.
// A writer may write whatever a person would have to approve.
Map remember_schema(const BlockSchema& schema, const policy::Rights& rights);

// One part of what a call writes: a field that is set, or what is appended to a Text, a List or a Log,
// whose path has no field.
struct RememberedPart {
    FieldPath path;
    bool appends = false;
    Value value;
};
// The parts that the arguments give, in the schema's order. Arguments that name no part of the
// schema are left out; rights are not looked at here.
std::vector<RememberedPart> remembered_parts(const BlockSchema& schema, const Map& arguments);

}  // namespace quire::memory
