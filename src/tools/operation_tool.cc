#include "tools/operation_tool.h"

namespace quire::tools {

void add_argument(json::FieldList& list, const Argument& argument, const json::MemberType& type,
                  const void* slots, const void* slot) {
    using Absent = json::FieldList::Absent;
    const std::ptrdiff_t offset = static_cast<const char*>(slot) - static_cast<const char*>(slots);
    list.add(argument.name, type, static_cast<std::size_t>(offset), slot,
             type.is_optional ? Absent::left_out : Absent::never, argument.says, argument.rules);
}

}  // namespace quire::tools
