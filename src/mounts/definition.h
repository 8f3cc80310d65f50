// Definition: a tool as another program's server defines it; what a person approves, what is pinned
// and compared, and what of it is published. Pure.
//
// Its words are a stranger's and go to a model: what is published of them is bounded, and what is
// invisible in them is written out.
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

// Of what is published of a description: of the tool, and of each part of its schemas, in code
// points.
inline constexpr std::size_t kLongestDescription = 4096;
inline constexpr std::size_t kLongestNote = 1024;
// Of a whole definition, and of all that a server lists, in bytes of JSON; of a published name.
inline constexpr std::size_t kLargestDefinition = std::size_t{128} << 10;
inline constexpr std::size_t kLargestDefinitions = std::size_t{2} << 20;
inline constexpr std::size_t kLongestName = 128;

struct Definition {
    std::string name;
    Value value;         // {name, title?, description?, inputSchema, outputSchema?, annotations?}.
    std::string digest;  // Of the value; the order of members does not matter.

    bool only_reads() const;  // It says so.
};

// A tool that is not used, and why.
struct LeftOut {
    std::string tool;
    std::string why;
};

struct Listing {
    std::vector<Definition> tools;  // In their order.
    std::vector<LeftOut> left_out;

    const Definition* find(std::string_view name) const;
};

// Of what tools/list gave. Members of an entry that are not a definition's are passed over.
Listing listing_of(const List& tools);
std::optional<Definition> definition_of(const Value& entry);
// Of all of them, whatever their order.
std::string digest_of(const std::vector<Definition>& tools);

// What is different, in words: "its description and its input schema".
std::string difference(const Definition& before, const Definition& now);
// The same with both, quoted in a line (a '"' as a "'"), from shortly before where they part, so
// that no length of what stayed hides what did not: `its description: now "Deletes.", before
// "Lists."`. About `limit` code points.
std::string difference_shown(const Definition& before, const Definition& now, std::size_t limit);

// "NAME_TOOL", with a '.' as '_'.
std::string published_name(std::string_view mount, std::string_view tool);

// The tool as it is published: its schemas in 2020-12, its texts bounded and visible; with an
// `argument` that names its operation, those of its schema.
//
// Errors: invalid_argument "unusable_tool", with words, for a name that clients do not take, a
// schema that is none, that needs what is not here, or in whose names something is invisible, and
// an argument for which it lists no words.
Result<tools::ToolInfo> published(std::string_view mount, const Definition& definition,
                                  const std::string& argument);

// The schema of its structured answers, in 2020-12; null where it has none, or none that compiles.
Value answer_schema(const Definition& definition);

// `text` with what is invisible written out, as text::escape_hidden() does, but for line feeds and tabs;
// cut after `limit` code points, and saying so.
std::string visible(std::string_view text, std::size_t limit);
// The same in one line: what is not to look like a line of ours.
std::string in_a_line(std::string_view text, std::size_t limit);

}  // namespace quire::mounts
