// str_replace_based_edit_tool: viewing and editing files by the commands, the argument names and
// the answers that models have learnt. What it changes is on the disk at once: that is what they
// know.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/utf8.h"
#include "blocks/line_edit.h"
#include "blocks/str_replace.h"
#include "tools/files.h"
#include "tools/render.h"
#include "tools/takes.h"
#include "tools/typed_tool.h"

namespace quire::tools {

enum class EditorCommand { view, create, str_replace, insert };

template <>
struct Words<EditorCommand> {
    static constexpr std::array<std::string_view, 4> words = {"view", "create", "str_replace",
                                                              "insert"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(EditorCommand command) {
        return words[static_cast<std::size_t>(command)];
    }
};

namespace {

constexpr std::size_t kListedFiles = 100'000;
constexpr std::size_t kShownEntries = 1000;
constexpr std::size_t kQuotedColumns = 400;

struct Args {
    EditorCommand command = EditorCommand::view;
    std::string path;
    std::optional<std::vector<std::int64_t>> view_range;
    std::optional<std::string> file_text;
    std::optional<std::string> old_str;
    std::optional<std::string> new_str;
    std::optional<std::size_t> insert_line;
    std::optional<std::string> insert_text;
};

Takes takes(EditorCommand command) {
    switch (command) {
        case EditorCommand::view:
            return {{"path"}, {"view_range"}};
        case EditorCommand::create:
            return {{"path", "file_text"}};
        case EditorCommand::str_replace:
            return {{"path", "old_str"}, {"new_str"}};
        case EditorCommand::insert:
            return {{"path", "insert_line", "insert_text"}};
    }
    return {};
}

Result<void> check_arguments(Args& args) {
    // An earlier form of the tool called the text of an insert so.
    if (args.command == EditorCommand::insert && !args.insert_text)
        args.insert_text = std::exchange(args.new_str, std::nullopt);
    const std::pair<std::string_view, bool> given[] = {
        {"view_range", args.view_range.has_value()},
        {"file_text", args.file_text.has_value()},
        {"old_str", args.old_str.has_value()},
        {"new_str", args.new_str.has_value()},
        {"insert_line", args.insert_line.has_value()},
        {"insert_text", args.insert_text.has_value()}};
    return check_takes("command", Words<EditorCommand>::word(args.command), takes(args.command),
                       given);
}

// --- text as `cat -n` prints it ---

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

// --- refusals, in the words that models know ---

std::string quoted(const std::string& text) {
    const std::string_view shown = utf8::prefix(text, kQuotedColumns);
    return cat("`", shown, shown.size() < text.size() ? "…" : "", "`");
}

std::string known_words(const Error& error, const Args& args) {
    const std::string& reason = error.reason();
    if (reason == "file_not_found")
        return cat("The path ", args.path, " does not exist. Please provide a valid path. ");
    if (reason == "file_exists") {
        return cat("File already exists at: ", args.path,
                   ". Cannot overwrite files using command `create`. ");
    }
    if (reason == "no_match") {
        return cat("No replacement was performed, old_str ", quoted(*args.old_str),
                   " did not appear verbatim in ", args.path, ". ");
    }
    if (reason == "not_unique") {
        std::string lines;
        for (const Value& line : error.details().find("lines")->as_list())
            lines += cat(lines.empty() ? "" : ", ", line.as_int());
        return cat("No replacement was performed. Multiple occurrences of old_str ",
                   quoted(*args.old_str), " in lines [", lines, "]. Please ensure it is unique. ");
    }
    const Value* const max = error.details().find("max");
    if (reason == "line_out_of_range" && max != nullptr && args.insert_line) {
        return cat("Invalid `insert_line` parameter: ", *args.insert_line,
                   ". It should be within the range of lines of the file: [0, ", max->as_int(),
                   "]. ");
    }
    return "";
}

ToolResult refused_as_known(const Error& error, const Args& args) {
    return refused(Error(error.code(), error.reason(),
                         cat(known_words(error, args), error.message()), error.details()));
}

// --- view ---

// The lines that view_range names. Errors: invalid_argument "invalid_range".
Result<text::LineRange> lines_of(const std::vector<std::int64_t>& range) {
    const std::int64_t start = range[0];
    const std::int64_t end = range[1] == -1 ? INT64_MAX : range[1];
    if (start >= 1 && end >= start) {
        return text::LineRange{{static_cast<std::size_t>(start) - 1},
                               {static_cast<std::size_t>(end)}};
    }
    return invalid("invalid_range",
                   cat("Invalid `view_range`: [", start, ", ", range[1],
                       "]. It should be two lines, the first 1 or more and the second not before "
                       "it; -1 is the last line"),
                   {{"start", start}, {"end", range[1]}});
}

ToolResult render_view(const kernel::FileRead& read, const std::string& path) {
    std::string content = numbered_as_by_cat(read.text.lines, read.text.first_line);
    std::string text = cat("Here's the result of running `cat -n` on ", path, ":\n", content);
    const std::size_t next = read.text.first_line + read.text.lines.size();
    std::vector<std::string> notes = read.text.notes;
    if (read.text.truncated && next < read.text.info.line_count)
        notes.push_back(cat("the next line is ", next + 1, "; go on with view_range"));
    for (const std::string& note : notes) text += cat("Note: ", note, ".\n");
    return of_file(read.file, {Map{{"content", std::move(content)},
                                   {"line_count", read.text.info.line_count},
                                   {"truncated", read.text.truncated},
                                   {"notes", strings(notes)}},
                               std::move(text)});
}

// What lies below `directory`, two levels deep, without what is hidden: directories end in '/'.
std::set<std::string> entries_below(const std::string& directory, const kernel::FileList& list) {
    const std::string prefix = directory.empty() ? "" : directory + "/";
    std::set<std::string> entries;
    for (const kernel::FileEntry& file : list.files) {
        if (!file.path.starts_with(prefix)) continue;
        std::size_t begin = prefix.size();
        for (int level = 0; level < 2 && file.path[begin] != '.'; ++level) {
            const std::size_t slash = file.path.find('/', begin);
            entries.insert(file.path.substr(0, slash == std::string::npos ? slash : slash + 1));
            if (slash == std::string::npos) break;
            begin = slash + 1;
        }
    }
    return entries;
}

ToolResult render_directory(const std::string& path, const std::string& directory,
                            const kernel::FileList& list) {
    const std::set<std::string> all = entries_below(directory, list);
    List entries;
    std::string text = cat("Here're the files and directories up to 2 levels deep in ", path,
                           ", excluding hidden items:\n");
    for (const std::string& entry : all) {
        if (entries.size() == kShownEntries) break;
        entries.emplace_back(entry);
        text += cat(entry, "\n");
    }
    const bool truncated = list.truncated || entries.size() < all.size();
    if (truncated) text += "There are more; view a directory further down.\n";
    return {Map{{"path", path}, {"entries", std::move(entries)}, {"truncated", truncated}},
            std::move(text)};
}

void view(kernel::FileCalls& files, const kernel::Caller& by, Args args, Reply<ToolResult> reply) {
    std::optional<text::LineRange> range;
    if (args.view_range) {
        const Result<text::LineRange> lines = lines_of(*args.view_range);
        if (!lines) return reply(refused(lines.error()));
        range = *lines;
    }
    const std::size_t first = range ? range->begin.n + 1 : 0;
    const std::string path = args.path;
    files.read(
        by, path, range,
        [&files, by, first, args = std::move(args),
         reply = std::move(reply)](Result<kernel::FileRead> read) mutable {
            const Error* const error = read ? nullptr : &read.error();
            const Value* const kind = error != nullptr ? error->details().find("kind") : nullptr;
            if (kind != nullptr && *kind == Value("directory") && !args.view_range) {
                const Value* const directory = error->details().find("path");
                return files.list(
                    by, std::nullopt, kListedFiles,
                    answer_with<kernel::FileList>(
                        std::move(reply), [path = args.path, directory = directory->as_string()](
                                              const kernel::FileList& list) {
                            return render_directory(path, directory, list);
                        }));
            }
            const auto past =
                first == 0 ? std::optional<Error>()
                           : past_the_end(first, error, read ? read->text.info.line_count : 0);
            if (past) return reply(refused(*past));
            if (!read) return reply(refused_as_known(*error, args));
            reply(render_view(*read, args.path));
        });
}

// --- create, str_replace, insert ---

ToolResult render_edited_file(const kernel::FileEdited& edited, const std::string& path,
                              const Result<kernel::FileSaved>& saved) {
    ToolResult out = of_file(edited.file, render_edited(edited.edited, Profile::compat));
    const blocks::Change& change = edited.edited.change;
    out.text = edited.edited.no_op
                   ? cat("The file ", path, " already reads so; nothing was changed.\n")
                   : cat("The file ", path,
                         " has been edited. Here's the result of running `cat -n` on a snippet of ",
                         path, ":\n", numbered_as_by_cat(change.snippet, change.shown.begin.n));
    std::vector<std::string> notes = edited.edited.notes;
    if (!saved) {
        notes.push_back(
            cat("the edit is in the workspace and not on the disk: ", saved.error().message()));
    }
    for (const std::string& note : notes) out.text += cat("Note: ", note, ".\n");
    out.structured.as_map().set("notes", strings(notes));
    out.structured.as_map().set("saved", saved.has_value());
    return out;
}

void edit(kernel::FileCalls& files, const kernel::Caller& by, Args args, blocks::Plan plan,
          Reply<ToolResult> reply) {
    const std::string path = args.path;
    files.edit(by, path, std::string(Words<EditorCommand>::word(args.command)), std::move(plan),
               [&files, by, path, args = std::move(args),
                reply = std::move(reply)](Result<kernel::FileEdited> edited) mutable {
                   if (!edited) return reply(refused_as_known(edited.error(), args));
                   files.save(by, path,
                              [path, edited = std::move(*edited), reply = std::move(reply)](
                                  const Result<kernel::FileSaved>& saved) mutable {
                                  reply(render_edited_file(edited, path, saved));
                              });
               });
}

blocks::Plan replacement(const Args& args, const kernel::Kernel& kernel) {
    return blocks::str_replace({.old_str = *args.old_str,
                                .new_str = args.new_str.value_or(""),
                                .limits = edit_limits(kernel),
                                .words = {.whole = "the file",
                                          .look = "View the file",
                                          .to_add = "use command insert to add lines",
                                          .to_replace_all = ""}});
}

blocks::Plan insertion(const Args& args, const kernel::Kernel& kernel) {
    blocks::LineEdit edit;
    // After line N counted from 1 is before line N counted from 0.
    edit.operations.emplace_back(blocks::InsertLines{{*args.insert_line}, *args.insert_text, {}});
    edit.numbering = numbering_of(Profile::compat);
    edit.limits = edit_limits(kernel);
    edit.words = {.line = "insert_line",
                  .to_delete = "command str_replace with new_str \"\" deletes text"};
    return blocks::line_edits(std::move(edit));
}

void run(kernel::Kernel& kernel, kernel::FileCalls& files, const kernel::Caller& by, Args args,
         Reply<ToolResult> reply) {
    if (const Result<void> right = check_arguments(args); !right)
        return reply(refused(right.error()));
    switch (args.command) {
        case EditorCommand::view:
            return view(files, by, std::move(args), std::move(reply));
        case EditorCommand::create: {
            const std::string path = args.path;
            std::string text = std::move(*args.file_text);
            return files.create(
                by, path, std::move(text),
                [args = std::move(args),
                 reply = std::move(reply)](Result<kernel::FileVersion> made) mutable {
                    if (!made) return reply(refused_as_known(made.error(), args));
                    reply(of_file(*made, {Map{{"saved", true}},
                                          cat("File created successfully at: ", args.path, "\n")}));
                });
        }
        case EditorCommand::str_replace: {
            blocks::Plan plan = replacement(args, kernel);
            return edit(files, by, std::move(args), std::move(plan), std::move(reply));
        }
        case EditorCommand::insert: {
            blocks::Plan plan = insertion(args, kernel);
            return edit(files, by, std::move(args), std::move(plan), std::move(reply));
        }
    }
}

}  // namespace

std::unique_ptr<const Tool> make_text_editor(kernel::Kernel& kernel, kernel::FileCalls& files) {
    return make_tool<Args>(
        {.name = "str_replace_based_edit_tool",
         .title = "View and edit files",
         .description =
             "View, create and edit text files, by their path from the workspace's root. view "
             "numbers the lines, or lists a directory; str_replace replaces text that occurs "
             "exactly once; insert adds insert_text after line insert_line, 0 is the top. Edits "
             "are on the disk when they are answered.",
         .annotations = {.destructive = true},
         .output_schema = object_schema({{"path", "string"},
                                         {"block_id", "string?"},
                                         {"version", "integer?"},
                                         {"content", "string?"},
                                         {"entries", "array?"},
                                         {"line_count", "integer?"},
                                         {"truncated", "boolean?"},
                                         {"changed", "object?"},
                                         {"snippet", "string?"},
                                         {"no_op", "boolean?"},
                                         {"saved", "boolean?"},
                                         {"notes", "array?"}}),
         .reads = {"view"}},
        Fields<Args>()
            .required("command", &Args::command)
            .required("path", &Args::path)
            .optional("view_range", &Args::view_range,
                      "First and last line, from 1; -1 is the last.",
                      {{"minItems", 2}, {"maxItems", 2}})
            .optional("file_text", &Args::file_text)
            .optional("old_str", &Args::old_str)
            .optional("new_str", &Args::new_str)
            .optional("insert_line", &Args::insert_line)
            .optional("insert_text", &Args::insert_text),
        [&kernel, &files](const Session& session, Args args, Reply<ToolResult> reply) {
            run(kernel, files, session.caller, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
