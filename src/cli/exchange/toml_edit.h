// Edits of one table in a TOML file that a person also edits: everything else keeps its bytes.
//
// The table is a stretch of lines: its header, [CONTAINER.NAME] with bare keys, and what follows up
// to the next header. Taking out a table that was put in gives back the text as it was before. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "cli/exchange/member_place.h"

namespace quire::cli {

// The table's members, strings and lists of strings; other members are null. None if there is no
// such table. Errors of all three: invalid_argument "invalid_toml" {line}; unsupported
// "not_a_table" when the table is written in another form than under a header.
Result<std::optional<Map>> toml_value(std::string_view text, const MemberPlace& place);
// The text with the table, which is replaced if it is there, and else comes last.
Result<std::string> toml_with(std::string_view text, const MemberPlace& place, const Map& value);
// The text without the table.
Result<std::string> toml_without(std::string_view text, const MemberPlace& place);

}  // namespace quire::cli
