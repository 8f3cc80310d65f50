// The common part of the editing tools of profile `compat`: the rows of their commands, the edits
// behind these, and the words of their answers.
//
// Models know these tools from elsewhere, so commands, arguments and answers keep the form that
// they know. str_replace_based_edit_tool works on files and memory on text blocks; both count lines
// from 1 and include the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "edits/plan.h"
#include "edits/view.h"
#include "json/fields.h"
#include "kernel/core/kernel.h"
#include "text/units.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

// How messages call what is edited. Each must be a string that lives as long as the program. The
// words follow "in", as in "does not occur in the file", or begin an advice.
struct EditorNouns {
    std::string_view whole;  // "the file"
    std::string_view look;   // "View the file"
};
// The arguments that refusals repeat. `insert_line` is there for insert alone, and tells its
// refusals from those of other commands.
struct EditorAsk {
    std::string path;
    std::string old_str = {};
    std::optional<std::size_t> insert_line = {};
};

// The functions of the commands that both tools have. `On` is what a tool works on
// (operation_tool.h); `path` is described differently by each. editor_rows() gives them names,
// words and arguments, which models have learnt and which must not change.
template <class On>
struct EditorCommands {
    void (*view)(On, OperationCall, std::string path,
                 std::optional<std::vector<std::int64_t>> view_range);
    void (*create)(On, OperationCall, std::string path, std::string file_text);
    void (*str_replace)(On, OperationCall, std::string path, std::string old_str,
                        std::optional<std::string> new_str);
    void (*insert)(On, OperationCall, std::string path, std::size_t insert_line,
                   std::string insert_text);
};
template <class On>
std::vector<OperationRow<On>> editor_rows(EditorCommands<On> commands, const Argument& path) {
    const Argument view_range{"view_range",
                              "First and last line, from 1; -1 is the last.",
                              {{"minItems", 2}, {"maxItems", 2}}};
    return {{{.name = "view", .reads = true, .says = "shows numbered lines, or lists a directory"},
             commands.view,
             {path, view_range}},
            {{.name = "create", .says = "makes a new file"},
             commands.create,
             {path, {"file_text", "The whole text."}}},
            {{.name = "str_replace", .says = "replaces text that occurs exactly once"},
             commands.str_replace,
             {path,
              {"old_str", "Exact text of the file, without line numbers."},
              {"new_str", "What takes its place; absent: nothing."}}},
            {{.name = "insert", .says = "adds whole lines"},
             commands.insert,
             {path,
              {"insert_line", "After this line, from 1; 0 is the top."},
              {"insert_text", "The new lines."}}}};
}

// Lines as `cat -n` prints them: the number in at least six columns, right-aligned, a TAB and the
// line. The first is number `first`, counted from 0; a last line without a newline gets one.
std::string numbered_as_by_cat(const std::vector<std::string>& lines, std::size_t first);
// The answer of a view, under a heading. `content` is numbered as by `cat -n`; a view that was cut
// gets a note with the next line.
struct ShownLines {
    std::string content;
    std::size_t line_count = 0;
    bool truncated = false;
    std::vector<std::string> notes;
    static Fields<ShownLines> fields();
};
Answered<ShownLines> render_lines(std::string_view heading, const edits::View& view,
                                  std::size_t line_count);
// The lines that view_range names: two numbers, counted from 1; -1 is the last. The result is
// half-open and counted from 0. Requires two numbers, as the schema does. Errors: invalid_argument
// "invalid_range" {start, end}.
Result<text::LineRange> lines_of(const std::vector<std::int64_t>& view_range);

// The edits of str_replace and insert. They are planned when the kernel has the text at hand, and
// refused then, in the words of `nouns` and of the commands.
edits::Plan replacement(const EditorAsk& ask, std::string new_str, const kernel::Kernel& kernel,
                        EditorNouns nouns);
edits::Plan insertion(const EditorAsk& ask, std::string text, const kernel::Kernel& kernel);
// The text of an answer to an edit: the lines around it, or that there was nothing to change.
// `heading` ends in a newline.
std::string edited_text(std::string_view heading, const kernel::Edited& edited,
                        const EditorNouns& nouns, const std::string& path);

// A refusal that begins with the words that models know: ours for refused edits, `more` for the
// tool's others, "" for none. Code, reason and details stay those of `error`.
ToolResult refused_as_known(const Error& error, const EditorAsk& ask, std::string_view more);

// Adds what `path` shows below `directory` ("" is the root): at most two levels, nothing hidden. A
// directory's entry ends in '/'. A path that is not below it adds nothing. Neither begins with a
// slash.
void add_entry_below(std::set<std::string>& entries, const std::string& directory,
                     const std::string& path);
struct ShownDirectory {
    std::string path;
    std::vector<std::string> entries;
    bool truncated = false;
    static Fields<ShownDirectory> fields();
};
// Every entry is shown with `root` in front, in the order of the set. At most 1,000 are;
// `truncated` says that there are more, or that the caller has not seen all.
Answered<ShownDirectory> render_directory(const std::string& path, std::string_view root,
                                          const std::set<std::string>& entries, bool truncated);

}  // namespace quire::tools
