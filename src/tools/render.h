// Rendering of answers: output schemas in few words, structured results, and text for a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function.h"
#include "base/value.h"
#include "json/fields.h"
#include "kernel/core/block_edits.h"
#include "kernel/core/block_reads.h"
#include "tools/tool.h"

namespace quire::edits {
enum class Numbering;
}

namespace quire::tools {

// How a profile counts lines: `full` from 0, half-open; the others from 1, inclusive. The kernel
// always counts as `full` does, so arguments are converted on the way in and answers on the way
// out.
edits::Numbering numbering_of(Profile profile);
// The kernel's limits for a block and for one operation, in bytes, as plans of edits take them.
edits::EditLimits edit_limits(const kernel::Kernel& kernel);

using json::Fields;

// An answer: its structured part, and the same for a model to read.
template <class Answer>
struct Answered {
    Answer answer;
    std::string text;
};

// Something about a file or a memory, with the members of that in front. In JSON both are one flat
// object, so no two members may have one name.
template <class Of, class What>
struct About {
    Of of;
    What what;
    static Fields<About> fields() {
        return Fields<About>()
            .members(json::Codec<Of>::fields(), &About::of)
            .members(json::Codec<What>::fields(), &About::what);
    }
};

// The block that an answer names, and its version. The members are the answer's own, or those of
// the object that it is about. An answer that names no block touches none, such as a list.
template <class Answer>
kernel::Touched touched_by(const Answer& answer) {
    if constexpr (requires { answer.touched(); }) {
        return answer.touched();
    } else if constexpr (requires { answer.of; }) {
        return touched_by(answer.of);
    } else if constexpr (requires { answer.file.block_id; }) {
        return touched_by(answer.file);
    } else if constexpr (requires { answer.block.block_id; }) {
        return touched_by(answer.block);
    } else if constexpr (requires { answer.row.block; }) {
        return touched_by(answer.row.block);
    } else {
        kernel::Touched out;
        if constexpr (requires { out.block_id = answer.block_id; }) out.block_id = answer.block_id;
        if constexpr (requires { out.path = answer.path; }) out.path = answer.path;
        if constexpr (requires { out.label = answer.label; }) out.label = answer.label;
        if constexpr (requires { out.version = answer.version; }) out.version = answer.version;
        return out;
    }
}

// A result encoded by the fields that an Answer has wherever it is one. `text` is for a model.
// Profile `model` makes it lean later, when the log has the call's end.
template <class Answer>
ToolResult result_of(const Answer& answer, std::string text) {
    ToolAnswer out{json::Codec<Answer>::encode(answer), std::move(text)};
    out.lean = [](Map& structured, const Map& said) {
        json::Codec<Answer>::fields().lean(structured, said);
    };
    return {std::move(out), touched_by(answer)};
}
template <class Answer>
ToolResult result_of(Answered<Answer> said) {
    return result_of(said.answer, std::move(said.text));
}

// The schema of what is one of several: their members, of which those are required that each of
// them requires. A member of which they say different things is of their common type, or anything.
// {} is what has no members. One flat object takes fewer words than a oneOf.
Map one_of(std::initializer_list<Map> schemas);

// The output schema that a tool publishes: what `schema` says, or a refusal's {"error": …}. Clients
// hold a refused call's structured content to it as well. It names what is there and of which type;
// bounds are for arguments, and a later version may answer more.
Value or_refusal(Map schema);

// A reply for the kernel: what it answers goes through `render` and on to `reply`; errors pass.
// `render` runs on the thread that answers, maybe a document's strand, so it must not wait.
template <class Out, class Render>
auto answer_with(Function<void(tl::expected<Out, Error>)> reply, Render render) {
    return [reply = std::move(reply), render = std::move(render)](auto result) mutable {
        if (!result) return reply(Failure(std::move(result).error()));
        reply(render(std::move(*result)));
    };
}

// The answer to an edit. The snippet shows the changed lines and some around them, numbered, so
// that a model can go on without reading the block again.
struct EditAnswer {
    // Counted as the profile counts.
    struct Lines {
        std::size_t start = 0;
        std::size_t end = 0;
        static Fields<Lines> fields();
    };
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    std::optional<Lines> changed;  // None where the count is inclusive and no line was written.
    std::string snippet;
    bool no_op = false;
    std::vector<std::string> notes;
    static Fields<EditAnswer> fields();  // Those that every profile answers.
};
// The fields that one profile answers. In `full` `changed` is always there, since a half-open range
// may be empty; an inclusive one cannot be, and is left out then.
Fields<EditAnswer> edit_fields(Profile profile);
// An edit's answer: the new version, the lines that it wrote, and a snippet. An edit that changed
// nothing says so.
Answered<EditAnswer> render_edited(const kernel::Edited& edited, Profile profile);
// How many lines the beginning of a block shows.
inline constexpr std::size_t kShownLines = 5;
// The beginning of what was written, numbered: at most kShownLines lines, by which a model sees
// that its text arrived as it meant it.
std::string beginning_of(std::string_view content, Profile profile);
// The lines that a change shows, numbered.
std::string snippet_of(const edits::Change& change, Profile profile);
// The lines that a change shows, numbered, and how many more changed lines there are: a large edit
// shows its beginning.
std::string snippet_text(const edits::Change& change, Profile profile);

// The refusal of a read from line `first` on, counted from 1, that begins past the end; none if
// it does not. Line 1 of an empty block is a valid start. `error`: the error of the read, or null
// if it gave a block of `line_count` lines.
std::optional<Error> past_the_end(std::size_t first, const Error* error, std::size_t line_count);

// "Version 8, 12 lines." and the like.
std::string version_line(std::uint64_t version, std::size_t line_count);
// "done"; "error (interrupted)" where there is a reason.
std::string status_words(const kernel::BlockInfo& info);
// The header of a block that is shown: its id, kind, status, version and size.
std::string header_line(const kernel::BlockText& block);

// A page of a history, newest first, with its times as text. `next_cursor` is "" on the last page.
struct ShownVersion {
    std::string version_id;
    std::string timestamp;  // RFC 3339, in UTC, with milliseconds.
    std::string actor;
    std::string description;
    static Fields<ShownVersion> fields();
};
struct ShownHistory {
    std::vector<ShownVersion> versions;
    std::string next_cursor;
    static Fields<ShownHistory> fields();
};
ShownHistory shown_history(const kernel::HistoryPage& page);
// For a model to read: a line for each version, whose columns are separated by TABs, and the
// cursor.
std::string history_text(const kernel::HistoryPage& page);
// The difference of two versions, as a unified diff.
struct ShownDiff {
    std::string diff;
    static Fields<ShownDiff> fields();
};
// The diff, or that there is none.
std::string diff_text(const std::string& diff);
// "More with cursor …", where there is more.
std::string cursor_line(const std::string& next_cursor);
// Each on a line of its own.
std::string note_lines(const std::vector<std::string>& notes);

std::string count_of(std::size_t count, std::string_view noun);  // "1 line", "2 lines"

}  // namespace quire::tools
