// What tools answer: output schemas in few words, structured results, and text for a model to read.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/function.h"
#include "base/value.h"
#include "blocks/find.h"
#include "blocks/numbering.h"
#include "kernel/kernel.h"
#include "tools/tool.h"

namespace quire::tools {

// How a profile counts lines: `full` from 0, half-open; the others from 1, inclusive.
blocks::Numbering numbering_of(Profile profile);
blocks::EditLimits edit_limits(const kernel::Kernel& kernel);

// An object with these members, all of them present: {{"version", "integer"}, …}. A type may end in
// '?' for a member that is not always there, and name two types ("string|null").
Map object_schema(std::initializer_list<std::pair<std::string_view, std::string_view>> members);
// An array of such objects.
Map array_schema(Map items);

// The output schema that a tool publishes: what `schema` says, or a refusal's {"error": …}. Clients
// hold a refused call's structured content to it as well.
Value or_refusal(Value schema);

// `reply` for a tool from a function that makes a result of what the kernel answers; refusals as
// results.
template <class T, class Render>
Reply<T> answer_with(Reply<ToolResult> reply, Render render) {
    return [reply = std::move(reply), render = std::move(render)](Result<T> result) mutable {
        if (!result) {
            reply(refused(result.error()));
            return;
        }
        reply(render(std::move(*result)));
    };
}

// Of an edit: {version, line_count, changed, snippet, no_op, notes}, where `changed` is counted as
// the profile counts (and left out of the inclusive ones when no line holds what was written).
ToolResult render_edited(const kernel::Edited& edited, Profile profile);
Map edited_schema(Profile profile);
// How many lines the beginning of a block shows.
inline constexpr std::size_t kShownLines = 5;
// The beginning of what was written, numbered.
std::string beginning_of(std::string_view content, Profile profile);
// The lines that a change shows, numbered.
std::string snippet_of(const blocks::Change& change, Profile profile);
// The same, and how many more there are.
std::string snippet_text(const blocks::Change& change, Profile profile);

// What a read from line `first` on, counted from 1, is refused with where it begins past the end;
// none otherwise. Line 1 of an empty block is where reading it begins.
// `error`: what the read failed with, or null where it gave a block of `line_count` lines.
std::optional<Error> past_the_end(std::size_t first, const Error* error, std::size_t line_count);

// "Version 8, 12 lines." and the like.
std::string version_line(std::uint64_t version, std::size_t line_count);
// "done"; "error (interrupted)" where there is a reason.
std::string status_words(const kernel::BlockInfo& info);
// The header of a block that is shown: its id, kind, status, version and size.
std::string header_line(const kernel::BlockText& block);

// {versions, next_cursor}.
ToolResult render_history(const kernel::HistoryPage& page);

// One hit: {line, content, match_start, match_end}.
Value hit_value(const blocks::Finding::Hit& hit, blocks::Numbering numbering);
// Its lines, numbered.
std::string hit_text(const blocks::Finding::Hit& hit, blocks::Numbering numbering);

List strings(const std::vector<std::string>& texts);
std::string count_of(std::size_t count, std::string_view noun);  // "1 line", "2 lines"

}  // namespace quire::tools
