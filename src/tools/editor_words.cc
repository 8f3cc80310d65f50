// The common part of str_replace_based_edit_tool and memory.
//
// Models have learnt two things about these tools from elsewhere: how an answer looks (`cat -n`
// numbers, a snippet after an edit) and how a refusal begins ("No replacement was performed, …").
// So a refusal starts with the familiar sentence, in known_words(), and goes on with ours, which
// says what to do next. The edits themselves are those of edits/.
//
// Only the first sentence and the numbering are imitated. Reasons and details are ours, so a
// program reads the same errors in all profiles.
#include "tools/editor_words.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/line_edit.h"
#include "edits/str_replace.h"

namespace quire::tools {
namespace {

constexpr std::size_t kShownEntries = 1000;
constexpr std::size_t kQuotedColumns = 400;

// A quotation that cannot fill the whole refusal.
std::string quoted(const std::string& text) {
    const std::string_view shown = utf8::prefix(text, kQuotedColumns);
    return cat("`", shown, shown.size() < text.size() ? "…" : "", "`");
}

// The first sentence of a refusal as models know it; "" if the reason is not one of an edit.
std::string known_words(const Error& error, const EditorAsk& ask) {
    const std::string& reason = error.reason();
    // Line numbers in these sentences count from 1, as the details have them in this profile.
    if (reason == "no_match") {
        return cat("No replacement was performed, old_str ", quoted(ask.old_str),
                   " did not appear verbatim in ", ask.path, ". ");
    }
    if (reason == "not_unique") {
        std::string lines;
        for (const Value& line : error.details().find("lines")->as_list())
            lines += cat(lines.empty() ? "" : ", ", line.as_int());
        return cat("No replacement was performed. Multiple occurrences of old_str ",
                   quoted(ask.old_str), " in lines [", lines, "]. Please ensure it is unique. ");
    }
    const Value* const max = error.details().find("max");
    if (reason == "line_out_of_range" && max != nullptr && ask.insert_line) {
        return cat("Invalid `insert_line` parameter: ", *ask.insert_line,
                   ". It should be within the range of lines of the file: [0, ", max->as_int(),
                   "]. ");
    }
    return "";
}

}  // namespace

// Numbers take at least six columns, right-aligned, then a TAB.
std::string numbered_as_by_cat(const std::vector<std::string>& lines, std::size_t first) {
    constexpr std::size_t kWidth = 6;
    std::string out;
    for (const std::string& line : lines) {
        const std::string number = cat(++first);
        out += cat(std::string(kWidth - std::min(kWidth, number.size()), ' '), number, "\t", line,
                   line.ends_with('\n') ? "" : "\n");
    }
    return out;
}

Fields<ShownLines> ShownLines::fields() {
    return Fields<ShownLines>()
        .required("content", &ShownLines::content)
        .required("line_count", &ShownLines::line_count)
        .required("truncated", &ShownLines::truncated)
        .required("notes", &ShownLines::notes);
}

Answered<ShownLines> render_lines(std::string_view heading, const edits::View& view,
                                  std::size_t line_count) {
    ShownLines out{numbered_as_by_cat(view.lines, view.first.n), line_count, view.truncated,
                   view.notes};
    // A view may also be cut because a line is too long; then there is no next line to name.
    const std::size_t next = view.first.n + view.lines.size();
    if (view.truncated && next < line_count)
        out.notes.push_back(cat("the next line is ", next + 1, "; go on with view_range"));
    std::string text = cat(heading, out.content, note_lines(out.notes));
    return {std::move(out), std::move(text)};
}

// The schema has made sure that there are two numbers.
Result<text::LineRange> lines_of(const std::vector<std::int64_t>& view_range) {
    const std::int64_t start = view_range[0];
    const std::int64_t end = view_range[1] == -1 ? INT64_MAX : view_range[1];
    if (start >= 1 && end >= start) {
        return text::LineRange{{static_cast<std::size_t>(start) - 1},
                               {static_cast<std::size_t>(end)}};
    }
    return invalid("invalid_range",
                   cat("Invalid `view_range`: [", start, ", ", view_range[1],
                       "]. It should be two lines, the first 1 or more and the second not before "
                       "it; -1 is the last line"),
                   {{"start", start}, {"end", view_range[1]}});
}

// The tool replaces one occurrence only, so its refusals must not advise an argument that replaces
// all.
edits::Plan replacement(const EditorAsk& ask, std::string new_str, const kernel::Kernel& kernel,
                        EditorNouns nouns) {
    return edits::str_replace({.old_str = ask.old_str,
                               .new_str = std::move(new_str),
                               .limits = edit_limits(kernel),
                               .words = {.whole = nouns.whole,
                                         .look = nouns.look,
                                         .to_add = "use command insert to add lines",
                                         .to_replace_all = ""}});
}

edits::Plan insertion(const EditorAsk& ask, std::string text, const kernel::Kernel& kernel) {
    edits::LineEdit edit;
    // After line N counted from 1 is before line N counted from 0.
    edit.operations.emplace_back(edits::InsertLines{{*ask.insert_line}, std::move(text), {}});
    edit.numbering = numbering_of(Profile::compat);
    edit.limits = edit_limits(kernel);
    edit.words = {.line = "insert_line",
                  .to_delete = "command str_replace with new_str \"\" deletes text"};
    return edits::line_edits(std::move(edit));
}

std::string edited_text(std::string_view heading, const kernel::Edited& edited,
                        const EditorNouns& nouns, const std::string& path) {
    if (edited.no_op) {
        std::string whole(nouns.whole);
        whole[0] = 'T';
        return cat(whole, " ", path, " already reads so; nothing was changed.\n");
    }
    return cat(heading, numbered_as_by_cat(edited.change.snippet, edited.change.shown.begin.n));
}

ToolResult refused_as_known(const Error& error, const EditorAsk& ask, std::string_view more) {
    return refused(Error(error.code(), error.reason(),
                         cat(known_words(error, ask), more, error.message()), error.details()));
}

// Stops at a hidden part: neither it nor what is below it is shown.
void add_entry_below(std::set<std::string>& entries, const std::string& directory,
                     const std::string& path) {
    const std::string prefix = directory.empty() ? "" : directory + "/";
    if (!path.starts_with(prefix)) return;
    std::size_t begin = prefix.size();
    for (int level = 0; level < 2 && path[begin] != '.'; ++level) {
        const std::size_t slash = path.find('/', begin);
        entries.insert(path.substr(0, slash == std::string::npos ? slash : slash + 1));
        if (slash == std::string::npos) break;
        begin = slash + 1;
    }
}

Fields<ShownDirectory> ShownDirectory::fields() {
    return Fields<ShownDirectory>()
        .required("path", &ShownDirectory::path)
        .required("entries", &ShownDirectory::entries)
        .required("truncated", &ShownDirectory::truncated);
}

Answered<ShownDirectory> render_directory(const std::string& path, std::string_view root,
                                          const std::set<std::string>& entries, bool truncated) {
    ShownDirectory out{path, {}, truncated};
    std::string text = cat("Here're the files and directories up to 2 levels deep in ", path,
                           ", excluding hidden items:\n");
    for (const std::string& entry : entries) {
        if (out.entries.size() == kShownEntries) break;
        text += cat(root, entry, "\n");
        out.entries.push_back(cat(root, entry));
    }
    out.truncated = truncated || out.entries.size() < entries.size();
    if (out.truncated) text += "There are more; view a directory further down.\n";
    return {std::move(out), std::move(text)};
}

}  // namespace quire::tools
