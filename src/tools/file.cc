// file: the files of the workspace, by path. A function for each operation, and the table of them.
//
// Lines are counted as the profile counts them: `full` from 0 to an excluded end, the others from 1
// to an included one. An insert needs no conversion: "before line n" counted from 0 is "after line
// n" counted from 1.
//
// Calls go to three places: what every source of blocks can do (create, save, delete) to the source
// of the files, edits and reads to FileCalls, and the state of the disk to DiskWatch. Which one is
// meant shows only here; the paths are the same.
#include <algorithm>

#include "base/concat.h"
#include "edits/line_edit.h"
#include "edits/numbering.h"
#include "edits/patch.h"
#include "edits/str_replace.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_calls.h"
#include "tools/argument_words.h"
#include "tools/file_conflicts.h"
#include "tools/file_events.h"
#include "tools/file_fields.h"
#include "tools/file_list.h"
#include "tools/line_ops.h"
#include "tools/operation_tool.h"
#include "tools/patch_answer.h"
#include "tools/render.h"
#include "tools/shown_block.h"
#include "tools/tools.h"
#include "tools/window_args.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::FileStatus> {
    static Fields<kernel::FileStatus> fields() {
        using kernel::FileStatus;
        return Fields<FileStatus>()
            .members(Codec<kernel::FileVersion>::fields(), &FileStatus::file)
            .required("permission", &FileStatus::permission)
            .required("dirty", &FileStatus::dirty)
            .required("disk", &FileStatus::disk)
            .required("conflict", &FileStatus::conflict)
            .optional("staged", &FileStatus::staged);
    }
};

}  // namespace quire::json

namespace quire::tools {
namespace {

using json::Codec;
using kernel::FileVersion;

// --- answers ---

std::string done_line(const FileVersion& file, std::string_view what) {
    return cat("Done: ", what, " ", file.path, " (", file.block_id, ", version ", file.version,
               ").\n");
}

// The answer of an operation that changed a file and shows no edit of lines.
struct FileDone {
    FileVersion file;
    // The lines that were written; profile `full` has none.
    std::optional<std::string> snippet = {};
    static Fields<FileDone> fields() {
        return Fields<FileDone>()
            .members(Codec<FileVersion>::fields(), &FileDone::file)
            .optional("snippet", &FileDone::snippet);
    }
};
struct StatusOfAll {
    std::vector<kernel::FileStatus> files;
    std::string watch;  // How changes on the disk are noticed.
    static Fields<StatusOfAll> fields() {
        return Fields<StatusOfAll>()
            .required("files", &StatusOfAll::files)
            .kept()
            .required("watch", &StatusOfAll::watch);
    }
};
using FileShown = About<FileVersion, ShownBlock>;
using FileSavedAnswer = About<FileVersion, kernel::SourceSaved>;
using FileEditAnswer = About<FileVersion, EditAnswer>;

// The answer of any operation. Profile `model` names only the members that most of them have.
Map file_answer(bool full) {
    if (!full) return one_of({Codec<FileVersion>::schema(), {}});
    return one_of({Codec<FileDone>::schema(), Codec<FileShown>::schema(),
                   Codec<FileEditAnswer>::schema(), Codec<FilePatchAnswer>::schema(),
                   Codec<FileSavedAnswer>::schema(), Codec<kernel::FileStatus>::schema(),
                   Codec<StatusOfAll>::schema(), Codec<kernel::FileList>::schema(),
                   Codec<FileEventsShown>::schema(), file_conflicts_answer(), reconciled_answer()});
}

ToolResult render_file_created(const FileVersion& file, std::string shown, Profile profile) {
    std::string text = cat(done_line(file, "created"), shown);
    FileDone out{file};
    if (profile != Profile::full) out.snippet = std::move(shown);
    return result_of(out, std::move(text));
}

ToolResult render_file_saved(kernel::OfBlock<kernel::SourceSaved> saved) {
    FileSavedAnswer out{file_of(std::move(saved.block)), std::move(saved.answer)};
    std::string text = cat(
        done_line(out.of, out.what.written ? "saved"
                                           : "nothing to save: the disk already has this text of"),
        note_lines(out.what.notes));
    return result_of(out, std::move(text));
}

ToolResult render_file_appended(const kernel::FileAppended& appended, Profile profile) {
    const std::optional<edits::Change>& change = appended.appended.change;
    FileDone out{appended.file};
    if (change && profile != Profile::full) out.snippet = snippet_of(*change, profile);
    return result_of(out, cat(done_line(appended.file, "appended to"),
                              change ? snippet_text(*change, profile) : std::string()));
}

ToolResult render_file_edited(const kernel::FileEdited& edited, Profile profile) {
    auto [change, text] = render_edited(edited.edited, profile);
    return result_of(FileEditAnswer{edited.file, std::move(change)}, std::move(text));
}

std::string file_status_line(const kernel::FileStatus& status) {
    return cat(status.file.path, ": ", name_of(status.permission), ", ",
               status.dirty ? "edits not saved" : "no edits to save", ", on disk ",
               name_of(status.disk), status.conflict ? ", in conflict" : "",
               status.staged ? ", staged by you" : "", ", ", status.file.block_id, " version ",
               status.file.version, "\n");
}

ToolResult render_file_status(std::vector<kernel::FileStatus> all, bool one, std::string watch) {
    if (one) return result_of(all.front(), file_status_line(all.front()));
    std::string text = all.empty() ? "No file has been opened yet.\n" : "";
    for (const kernel::FileStatus& status : all) text += file_status_line(status);
    cat_to(text, cat("The disk: ", watch, ".\n"));
    return result_of(StatusOfAll{std::move(all), std::move(watch)}, std::move(text));
}

// --- operations ---

// A page has at most kMostListed files, whatever limit is asked for: a list is for a model's
// context, and next_cursor goes on.
void list_files(FileTool tool, OperationCall call, std::optional<std::string> pattern,
                std::optional<bool> all, std::optional<std::size_t> limit,
                std::optional<std::string> cursor) {
    constexpr std::size_t kMostListed = 1000;
    kernel::FileQuery query{
        .all = all.value_or(false),
        .cursor = std::move(cursor).value_or(""),
        .limit = std::clamp(limit.value_or(kMostListed), std::size_t{1}, kMostListed)};
    if (pattern) {
        Result<text::Glob> compiled = text::Glob::compile(*pattern);
        if (!compiled) return call.reply(Failure(std::move(compiled).error()));
        query.pattern = std::move(*compiled);
    }
    tool.files.list(call.by(), std::move(query),
                    answer_with(std::move(call.reply),
                                [had_pattern = pattern.has_value(),
                                 profile = call.session.profile](const kernel::FileList& listed) {
                                    return render_file_list(listed, had_pattern, profile);
                                }));
}

struct FileLines {
    std::string path;
    std::optional<RangeAsked> range;
    std::optional<RangeAsked> columns;
    std::optional<bool> line_numbers;
};
Fields<FileLines> file_line_fields(bool full) {
    Fields<FileLines> out;
    out.required("path", &FileLines::path, kPathSays)
        .optional("range", &FileLines::range,
                  full ? "Lines, from 0, end not included."
                       : "Lines, from 1, included; end -1: the last.")
        .optional("columns", &FileLines::columns,
                  full ? "Code points of a range of one line, from 0."
                       : "Characters of a one-line range, from 1, included.");
    if (full) {
        out.optional("line_numbers", &FileLines::line_numbers,
                     "Number and TAB before each line of content.");
    }
    return out;
}

// A range that starts past the end is refused in the numbers of the caller. `first` is 0 where the
// kernel's own refusal, which counts from 0, is right as it stands.
void read_file(FileTool tool, OperationCall call, FileLines args) {
    const Profile profile = call.session.profile;
    const edits::Numbering numbering = numbering_of(profile);
    const Result<edits::Window> window = window_asked(args.range, args.columns, numbering);
    if (!window) return call.reply(Failure(window.error()));
    const bool from_one = window->lines && numbering == edits::Numbering::one_inclusive;
    const std::size_t first = from_one ? window->lines->begin.n + 1 : 0;
    tool.files.read(
        call.by(), std::move(args.path), *window,
        [reply = std::move(call.reply), profile, first,
         numbers = args.line_numbers.value_or(true)](Result<kernel::FileRead> file) mutable {
            const Error* const error = file ? nullptr : &file.error();
            const std::size_t lines = file ? file->text.info.line_count : 0;
            auto past = first > 0 ? past_the_end(first, error, lines) : std::optional<Error>();
            if (past) return reply(Failure(std::move(*past)));
            if (!file) return reply(Failure(std::move(file).error()));
            auto [shown, text] = render_block(file->text, profile, numbers);
            // The tool's name says the kind.
            if (profile == Profile::model) shown.kind = "";
            reply(result_of(FileShown{file->file, std::move(shown)}, std::move(text)));
        });
}

// The answer shows the beginning of what was written.
void create_file(FileTool tool, OperationCall call, std::string path,
                 std::optional<std::string> content, std::optional<bool> overwrite) {
    std::string text = std::move(content).value_or("");
    std::string shown = beginning_of(text, call.session.profile);
    tool.source.create(
        call.by(), {kernel::file_address(path), std::move(text), overwrite.value_or(false)},
        answer_with(std::move(call.reply), [profile = call.session.profile,
                                            shown = std::move(shown)](kernel::SourceVersion made) {
            return render_file_created(file_of(std::move(made)), shown, profile);
        }));
}

void append_to_file(FileTool tool, OperationCall call, std::string path, std::string content) {
    tool.files.append(call.by(), std::move(path), std::move(content),
                      answer_with(std::move(call.reply), [profile = call.session.profile](
                                                             const kernel::FileAppended& appended) {
                          return render_file_appended(appended, profile);
                      }));
}

// Insert, replace and edit differ only in their plan. The plan is made on the file's strand, from
// the text as it is then; `operation` names the version in the history.
void plan_file_edit(FileTool tool, OperationCall call, std::string path, std::string operation,
                    edits::Plan plan) {
    tool.files.edit(call.by(), std::move(path), std::move(operation), std::move(plan),
                    answer_with(std::move(call.reply),
                                [profile = call.session.profile](const kernel::FileEdited& edited) {
                                    return render_file_edited(edited, profile);
                                }));
}

void insert_in_file(FileTool tool, OperationCall call, std::string path, std::size_t line,
                    std::string content) {
    edits::LineEdit edit;
    edit.operations.emplace_back(edits::InsertLines{{line}, std::move(content), {}});
    edit.numbering = numbering_of(call.session.profile);
    edit.limits = edit_limits(tool.kernel);
    edit.words.to_delete = "operation edit deletes lines with op \"delete\"";
    plan_file_edit(tool, std::move(call), std::move(path), "insert",
                   edits::line_edits(std::move(edit)));
}

void replace_in_file(FileTool tool, OperationCall call, std::string path, std::string find,
                     std::string replace) {
    const edits::Numbering numbering = numbering_of(call.session.profile);
    plan_file_edit(tool, std::move(call), std::move(path), "replace",
                   edits::str_replace({.old_str = std::move(find),
                                       .new_str = std::move(replace),
                                       .replace_all = true,
                                       .numbering = numbering,
                                       .limits = edit_limits(tool.kernel),
                                       .words = {.old_str = "find",
                                                 .whole = "the file",
                                                 .look = "Read the file",
                                                 .to_add = "use operation insert to add lines"}}));
}

// All operations of the call are planned and applied together, or none is.
void edit_file(FileTool tool, OperationCall call, std::string path, std::vector<Map> operations) {
    edits::LineEdit edit;
    edit.numbering = numbering_of(call.session.profile);
    edit.limits = edit_limits(tool.kernel);
    Result<std::vector<edits::LineOp>> ops = line_ops(std::move(operations), edit.numbering);
    if (!ops) return call.reply(Failure(std::move(ops).error()));
    edit.operations = std::move(*ops);
    plan_file_edit(tool, std::move(call), std::move(path), "edit",
                   edits::line_edits(std::move(edit)));
}

// One file, whatever names the patch gives it: models write a/ and b/ before it, or only its last
// part. block_apply_patch moves and deletes.
void patch_file(FileTool tool, OperationCall call, std::string path, std::string patch) {
    const Profile profile = call.session.profile;
    auto parts = edits::parse_patch(patch, edit_limits(tool.kernel));
    if (!parts) return call.reply(Failure(std::move(parts).error()));
    const auto is_other = [](const edits::FilePatch& part) {
        return part.action == edits::PatchAction::erase || !part.new_name.empty();
    };
    const auto other = std::find_if(parts->begin(), parts->end(), is_other);
    if (parts->size() > 1 || other != parts->end()) {
        return call.reply(edits::invalid_patch(
            other != parts->end() ? other->patch_line : parts->at(1).patch_line,
            "operation patch changes one file. block_apply_patch takes patches of several, and "
            "deletes and moves them"));
    }
    parts->front().name = kernel::file_address(path);
    tool.files.patch(
        call.by(), {std::move(*parts), false, numbering_of(profile)},
        answer_with(std::move(call.reply), [profile](kernel::Patched patched) {
            // The text is made first, since the answer takes the parts away.
            const std::vector<std::string> notes = std::move(patched.notes);
            std::string text = patch_text(patch_answer(patched, profile), notes, false);
            return result_of(file_patch_answer(std::move(patched), profile), std::move(text));
        }));
}

// Saves what the workspace has and the disk has not.
void save_file(FileTool tool, OperationCall call, std::string path) {
    tool.source.save(call.by(), kernel::file_address(path),
                     answer_with(std::move(call.reply), render_file_saved));
}

void delete_file(FileTool tool, OperationCall call, std::string path) {
    tool.source.erase(call.by(), kernel::file_address(path),
                      answer_with(std::move(call.reply), [](kernel::SourceVersion made) {
                          const FileVersion file = file_of(std::move(made));
                          return result_of(FileDone{file}, done_line(file, "deleted"));
                      }));
}

void stage_file(FileTool tool, OperationCall call, std::string path) {
    tool.files.stage(
        call.by(), std::move(path), answer_with(std::move(call.reply), [](const FileVersion& file) {
            return result_of(FileDone{file},
                             cat(done_line(file, "staged"),
                                 "Your calls on this path go to a private copy until unstage.\n"));
        }));
}

void unstage_file(FileTool tool, OperationCall call, std::string path, bool apply) {
    tool.files.unstage(call.by(), std::move(path), apply,
                       answer_with(std::move(call.reply), [profile = call.session.profile](
                                                              const kernel::FileUnstaged& ended) {
                           if (ended.edited)
                               return render_file_edited({ended.file, *ended.edited}, profile);
                           return result_of(FileDone{ended.file},
                                            done_line(ended.file, "dropped the private copy of"));
                       }));
}

// Without a path: every file that has been opened, and how the disk is watched, which belongs to
// all of them.
void show_file_status(FileTool tool, OperationCall call, std::optional<std::string> path) {
    const bool one = path.has_value();
    tool.files.status(
        call.by(), std::move(path),
        answer_with(std::move(call.reply),
                    [one, &watch = tool.watch](std::vector<kernel::FileStatus> all) {
                        return render_file_status(std::move(all), one, kernel::watch_words(watch.status()));
                    }));
}

void show_events(FileTool tool, OperationCall call, std::optional<std::string> subscription_id,
                 std::optional<std::int64_t> wait_ms) {
    show_file_events(tool.watch, std::move(call), std::move(subscription_id), wait_ms);
}

void show_conflicts(FileTool tool, OperationCall call, std::optional<std::string> path) {
    show_file_conflicts(tool.files, std::move(call), std::move(path));
}

void resolve_conflicts(FileTool tool, OperationCall call, std::string path,
                       std::optional<std::string> conflict_id, kernel::ConflictChoice choice,
                       std::optional<std::string> content) {
    resolve_file_conflicts(tool.files, std::move(call),
                           {std::move(path), std::move(conflict_id), choice, std::move(content)});
}

void reconcile_disk(FileTool tool, OperationCall call,
                    std::optional<std::vector<std::string>> paths) {
    reconcile_files(tool.files, tool.watch, std::move(call), std::move(paths));
}

// Profiles differ in line_numbers and in where an insert goes; `load` and `read` are one function.
std::vector<OperationRow<FileTool>> file_rows(bool full) {
    const Operations edits = line_operations(full);
    const Argument path{"path", std::string(kPathSays)};
    const Argument content{"content", "Text."};
    const Argument line{"line", full ? "A line, from 0." : "A line, from 1."};
    const Argument operations{
        "operations",
        cat("In order, all or none; each sees what the ones before left:\n", edits.forms()),
        {{"items", edits.input_schema(edits.names())}}};
    return {
        {{.name = "list",
          .reads = true,
          .twin = {"List files", {"limit", "cursor"}},
          .says = "paths and sizes"},
         list_files,
         {{"pattern", "src/** is all below src."},
          {"all", "Ignored ones too."},
          {"limit", "Most rows."},
          {"cursor", "From next_cursor."}}},
        {{.name = "read", .reads = true, .twin = {"Read a file"}, .says = "numbered lines"},
         read_file,
         file_line_fields(full)},
        {{.name = "load", .reads = true, .says = "as read"}, read_file, file_line_fields(full)},
        {{.name = "create", .says = "on disk at once"},
         create_file,
         {path, content, {"overwrite", "Replace others' unsaved edits."}}},
        {{.name = "append", .says = "at the end"}, append_to_file, {path, content}},
        {{.name = "insert", .says = std::string(where_inserted(full))},
         insert_in_file,
         {path, line, content}},
        {{.name = "replace", .says = "each match"},
         replace_in_file,
         {path, {"find", "Exact text."}, {"replace", "New text."}}},
        {{.name = "edit", .says = "several lines at once"}, edit_file, {path, operations}},
        {{.name = "patch", .says = "hunks of a unified diff"},
         patch_file,
         {path, {"patch", "A unified diff."}}},
        {{.name = "save", .says = "writes edits to disk"}, save_file, {path}},
        {{.name = "delete", .says = "from disk"}, delete_file, {path}},
        {{.name = "status", .reads = true, .says = "unsaved edits, disk changes"},
         show_file_status,
         {path}},
        {{.name = "events", .reads = true, .says = "changes on disk since the last call"},
         show_events,
         {{"subscription_id", "As answered before; absent: begin."},
          {"wait_ms", "Wait for one.", {{"minimum", 0}}}}},
        {{.name = "conflicts", .reads = true, .says = "both sides of overlapping changes"},
         show_conflicts,
         {path}},
        {{.name = "resolve", .says = "settles one, or all of path"},
         resolve_conflicts,
         {path, {"conflict_id", "Absent: all."}, {"choice", "text: content."}, content}},
        {{.name = "reconcile", .reads = true, .says = "takes in disk changes"},
         reconcile_disk,
         {{"paths", "Absent: all."}}},
        {{.name = "stage", .says = "a private copy for your calls"}, stage_file, {path}},
        {{.name = "unstage", .says = "merges it in, or drops it"},
         unstage_file,
         {path, {"apply", "true: merge; false: drop."}}},
    };
}

}  // namespace

std::vector<std::string> file_operations() {
    return operation_names(file_rows(true));
}

std::vector<std::string> file_twins() {
    return twin_names(file_rows(true));
}

Operations file_table(Profile profile) {
    return operations_of("operation", file_rows(profile == Profile::full));
}

MadeTool make_file(const FileTool& of, Profile profile) {
    const bool full = profile == Profile::full;
    return make_operation_tool<FileTool>({.name = "file",
                                          .title = "Files",
                                          .description = cat("Workspace files. Lines count from ",
                                                             full ? "0, end not included." : "1."),
                                          .annotations = {.destructive = true},
                                          .answer = file_answer(full)},
                                         "operation", of, file_rows(full));
}

}  // namespace quire::tools
