// Definition: a tool as another program's server defines it: the part that a person approves, how
// two definitions are compared, and the part that is published. Pure.
//
// Its texts are a stranger's and go to a model. So their published length is bounded, and invisible
// characters in them are written out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "tools/tool.h"

namespace quire::mounts {

// The published length of a description, in code points: the tool's, and that of each part of its
// schemas.
inline constexpr std::size_t kLongestDescription = 4096;
inline constexpr std::size_t kLongestNote = 1024;
// The size of one definition, and of all definitions of a server, in bytes of JSON; the length of a
// published name.
inline constexpr std::size_t kLargestDefinition = std::size_t{128} << 10;
inline constexpr std::size_t kLargestDefinitions = std::size_t{2} << 20;
inline constexpr std::size_t kLongestName = 128;

// One tool.
struct Definition {
    std::string name;
    Value value;         // {name, title?, description?, inputSchema, outputSchema?, annotations?}.
    std::string digest;  // The value's, whatever the order of its members.

    bool only_reads() const;  // Its annotations say so.
};

// A tool that is not used, and why.
struct LeftOut {
    std::string tool;
    std::string why;
};

// The usable tools of a server, and those that cannot be used.
struct Listing {
    std::vector<Definition> tools;  // In their order.
    std::vector<LeftOut> left_out;

    const Definition* find(std::string_view name) const;
};

// The definitions in the result of tools/list. Members that do not belong to a definition are
// dropped.
Listing listing_of(const List& tools);
// The definition in one entry of a list; none for an entry without a name.
std::optional<Definition> definition_of(const Value& entry);
// One digest for all definitions, whatever their order.
std::string digest_of(const std::vector<Definition>& tools);

// The members that differ, in words: "its description and its input schema".
std::string difference(const Definition& before, const Definition& now);
// Each member that differs, with both texts in one line (a '"' as a "'"): `its description: now
// "Deletes.", before "Lists."`. Quotations begin shortly before the first difference, so that a
// long common part cannot hide it. About `limit` code points.
std::string difference_shown(const Definition& before, const Definition& now, std::size_t limit);

// "NAME_TOOL", with a '.' as '_'.
std::string published_name(std::string_view mount, std::string_view tool);

// The tool as it is published: its schemas in 2020-12, its texts bounded and visible. With an
// `argument`, the words that the schema lists for it are the tool's operations.
//
// Errors: invalid_argument "unusable_tool" for a name that clients do not accept, for a schema that
// is missing, cannot be compiled or has invisible characters in a name, and for an `argument` that
// has no words in the schema.
Result<tools::ToolInfo> published(std::string_view mount, const Definition& definition,
                                  const std::string& argument);

// The schema of its structured answers, in 2020-12; null when it has none that compiles.
Value answer_schema(const Definition& definition);

// `text` with invisible characters written out as text::escape_hidden() does, except line feeds and tabs;
// cut after `limit` code points, with a mark.
std::string visible(std::string_view text, std::size_t limit);
// visible() in one line, so that it cannot look like a line of ours.
std::string in_a_line(std::string_view text, std::size_t limit);

}  // namespace quire::mounts
