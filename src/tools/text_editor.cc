// str_replace_based_edit_tool: viewing and editing files by the commands, the argument names and
// the answers that models know from elsewhere. Its edits are saved at once, as they expect.
//
// An edit is two steps, the change of the document and the save. The first is durable when the
// second begins, so a save that fails loses nothing: the answer says `saved: false` and a note says
// why. A creation is on the disk at once.
#include <set>
#include <utility>

#include "base/concat.h"
#include "kernel/files/file_calls.h"
#include "tools/argument_words.h"
#include "tools/editor_words.h"
#include "tools/file_fields.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {
namespace {

using kernel::FileVersion;

// The kernel says the limits of an edit; the rest is done by its calls on files.
struct TextEditor {
    kernel::Kernel& kernel;
    kernel::FileCalls& files;
};

// --- refusals, in the words that models know ---

constexpr EditorNouns kFileNouns{"the file", "View the file"};

// A refusal of the kernel, after the words in which models know it.
ToolResult refused_file(const Error& error, const EditorAsk& ask) {
    std::string known;
    if (error.reason() == "file_not_found")
        known = cat("The path ", ask.path, " does not exist. Please provide a valid path. ");
    if (error.reason() == "file_exists") {
        known = cat("File already exists at: ", ask.path,
                    ". Cannot overwrite files using command `create`. ");
    }
    return refused_as_known(error, ask, known);
}

// --- view ---

using FileViewed = About<FileVersion, ShownLines>;

ToolResult render_viewed_file(const kernel::FileRead& read, const std::string& path) {
    const kernel::BlockText& block = read.text;
    auto [lines, text] = render_lines(
        cat("Here's the result of running `cat -n` on ", path, ":\n"),
        {block.lines, {block.first_line}, block.truncated, block.notes}, block.info.line_count);
    return result_of(FileViewed{read.file, std::move(lines)}, std::move(text));
}

// `directory` as the kernel names it, `path` as the caller does.
void view_workspace_directory(TextEditor editor, OperationCall call, std::string path,
                              std::string directory) {
    // Two levels are shown, but files far below count as well: they are what makes a directory.
    constexpr std::size_t kListed = 100'000;
    editor.files.list(call.by(), {.limit = kListed},
                      answer_with(std::move(call.reply), [path = std::move(path),
                                                          directory = std::move(directory)](
                                                             const kernel::FileList& list) {
                          std::set<std::string> entries;
                          for (const kernel::FileEntry& file : list.files)
                              add_entry_below(entries, directory, file.path);
                          return result_of(render_directory(path, "", entries, list.truncated));
                      }));
}

// The kernel refuses to read a directory and says that it is one: then it is listed. With a
// view_range the refusal stands, since a directory has no lines.
void view_file(TextEditor editor, OperationCall call, std::string path,
               std::optional<std::vector<std::int64_t>> view_range) {
    std::optional<text::LineRange> range;
    if (view_range) {
        const Result<text::LineRange> lines = lines_of(*view_range);
        if (!lines) return call.reply(Failure(lines.error()));
        range = *lines;
    }
    editor.files.read(
        call.by(), path, range,
        [editor, path, range, session = call.session,
         reply = std::move(call.reply)](Result<kernel::FileRead> read) mutable {
            const Error* const error = read ? nullptr : &read.error();
            const Value* const kind = error != nullptr ? error->details().find("kind") : nullptr;
            if (kind != nullptr && *kind == Value("directory") && !range) {
                return view_workspace_directory(editor, {session, std::move(reply)}, path,
                                                error->details().find("path")->as_string());
            }
            const auto past = range ? past_the_end(range->begin.n + 1, error,
                                                   read ? read->text.info.line_count : 0)
                                    : std::optional<Error>();
            if (past) return reply(refused(*past));
            if (!read) return reply(refused_file(*error, {path}));
            reply(render_viewed_file(*read, path));
        });
}

// --- create, str_replace, insert ---

// The answers to `create` and to edits.
struct FileMade {
    FileVersion file;
    bool saved = true;
    static Fields<FileMade> fields() {
        return Fields<FileMade>()
            .members(json::Codec<FileVersion>::fields(), &FileMade::file)
            .required("saved", &FileMade::saved);
    }
};
struct FileChanged {
    FileVersion file;
    EditAnswer edited;
    bool saved = false;
    static Fields<FileChanged> fields() {
        return Fields<FileChanged>()
            .members(json::Codec<FileVersion>::fields(), &FileChanged::file)
            .members(json::Codec<EditAnswer>::fields(), &FileChanged::edited)
            .required("saved", &FileChanged::saved);
    }
};

ToolResult render_changed_file(const kernel::FileEdited& edited, const std::string& path,
                               const Result<kernel::FileSaved>& saved) {
    FileChanged out{edited.file, render_edited(edited.edited, Profile::compat).answer,
                    saved.has_value()};
    if (!saved) {
        out.edited.notes.push_back(
            cat("the edit is in the workspace and not on the disk: ", saved.error().message()));
    }
    const std::string heading = cat(
        "The file ", path,
        " has been edited. Here's the result of running `cat -n` on a snippet of ", path, ":\n");
    return result_of(out, cat(edited_text(heading, edited.edited, kFileNouns, path),
                              note_lines(out.edited.notes)));
}

ToolResult render_undone_file(const kernel::Undone& undone, const std::string& path,
                              const Result<kernel::FileSaved>& saved) {
    if (!saved) return refused(saved.error());
    // An undo is shown as the edit that it made.
    const auto& [version, restored, removed, skipped, line_count, change, file] = undone;
    FileChanged out{saved->file, {}, true};
    out.edited.version = version;
    out.edited.line_count = line_count;
    if (skipped > 0) {
        out.edited.notes.push_back(
            cat(skipped, " characters were left alone: others have changed them since"));
    }
    kernel::Edited as_edit{version, line_count, change, false, {}};
    return result_of(out, cat(edited_text(cat("The last edit of ", path,
                                              " was undone. Here's the result of running "
                                              "`cat -n` on a snippet of ",
                                              path, ":\n"),
                                          as_edit, kFileNouns, path),
                              note_lines(out.edited.notes)));
}

// The reply to a change of a file: saves the file, and renders both results. A refused change is not saved.
template <class Made>
Reply<Made> then_saved(TextEditor editor, OperationCall call, EditorAsk ask,
                       ToolResult (*render)(const Made& made, const std::string& path,
                                            const Result<kernel::FileSaved>& saved)) {
    return [files = &editor.files, by = call.by(), ask = std::move(ask), render,
            reply = std::move(call.reply)](Result<Made> made) mutable {
        if (!made) return reply(refused_file(made.error(), ask));
        files->save(by, ask.path,
                    [path = ask.path, render, made = std::move(*made),
                     reply = std::move(reply)](const Result<kernel::FileSaved>& saved) mutable {
                        reply(render(made, path, saved));
                    });
    };
}

// Edits the file and saves it. An edit whose save fails stays in the workspace, and a note says so.
void change_file(TextEditor editor, OperationCall call, EditorAsk ask, std::string command,
                 edits::Plan plan) {
    const kernel::Caller by = call.by();
    editor.files.edit(by, ask.path, std::move(command), std::move(plan),
                      then_saved(editor, std::move(call), ask, render_changed_file));
}

void create_saved_file(TextEditor editor, OperationCall call, std::string path,
                       std::string file_text) {
    editor.files.create(
        call.by(), {path, std::move(file_text)},
        [path, reply = std::move(call.reply)](Result<FileVersion> made) mutable {
            if (!made) return reply(refused_file(made.error(), {path}));
            reply(result_of(FileMade{*made}, cat("File created successfully at: ", path, "\n")));
        });
}

void replace_in_saved_file(TextEditor editor, OperationCall call, std::string path,
                           std::string old_str, std::optional<std::string> new_str) {
    const EditorAsk ask{std::move(path), std::move(old_str)};
    change_file(editor, std::move(call), ask, "str_replace",
                replacement(ask, std::move(new_str).value_or(""), editor.kernel, kFileNouns));
}

void insert_in_saved_file(TextEditor editor, OperationCall call, std::string path,
                          std::size_t insert_line, std::string insert_text) {
    const EditorAsk ask{std::move(path), "", insert_line};
    change_file(editor, std::move(call), ask, "insert",
                insertion(ask, std::move(insert_text), editor.kernel));
}

// Undoes the caller's last change of the file, and saves it.
void undo_in_saved_file(TextEditor editor, OperationCall call, std::string path) {
    const kernel::Caller by = call.by();
    editor.files.undo(by, path, kernel::last_of(by.actor.str(), kernel::UndoScope::own, false),
                      then_saved(editor, std::move(call), {path}, render_undone_file));
}

std::vector<OperationRow<TextEditor>> text_editor_rows() {
    const Argument path{"path", std::string(kPathSays)};
    auto rows = editor_rows<TextEditor>(
        {view_file, create_saved_file, replace_in_saved_file, insert_in_saved_file}, path);
    // An older form of the tool called the text of an insert `new_str`.
    rows.back().operation.renamed = {{"new_str", "insert_text"}};
    // An older form of the tool had an undo of its own.
    rows.push_back({{.name = "undo_edit", .is_unlisted = true}, undo_in_saved_file, {path}});
    return rows;
}

}  // namespace

std::vector<std::string> text_editor_operations() {
    return operation_names(text_editor_rows());
}

MadeTool make_text_editor(kernel::Kernel& kernel, kernel::FileCalls& files) {
    return make_operation_tool<TextEditor>(
        {.name = "str_replace_based_edit_tool",
         .title = "View and edit files",
         .description = "Text files of the workspace. Edits are saved at once.",
         .annotations = {.destructive = true},
         .answer = one_of({json::Codec<FileViewed>::schema(), json::Codec<ShownDirectory>::schema(),
                           json::Codec<FileMade>::schema(), json::Codec<FileChanged>::schema()})},
        "command", {kernel, files}, text_editor_rows());
}

}  // namespace quire::tools
