// file: the files of the workspace, by path. One tool with an operation, so that a rule can allow
// some of them.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/concat.h"
#include "edits/line_edit.h"
#include "edits/str_replace.h"
#include "tools/file_fields.h"
#include "tools/files.h"
#include "tools/permission_words.h"
#include "tools/render.h"
#include "tools/shown_block.h"
#include "tools/typed_tool.h"

namespace quire::tools {

enum class FileOperation {
    list,
    read,
    load,
    create,
    append,
    insert,
    replace,
    edit,
    save,
    erase,
    status
};

namespace {

struct Range {
    std::int64_t start = 0;
    std::int64_t end = 0;
    static Fields<Range> fields() {
        return Fields<Range>().required("start", &Range::start).required("end", &Range::end);
    }
};

// One of `operations`. Which members belong to which `op` is checked when it is read: a oneOf of
// three objects would say the same in four times the words.
enum class LineOpKind { insert, erase, replace };
struct LineOpArgs {
    LineOpKind op = LineOpKind::insert;
    std::optional<std::size_t> line;
    std::optional<std::size_t> start_line;
    std::optional<std::size_t> end_line;
    std::optional<std::string> content;
    std::optional<std::string> expected_text;
    std::optional<std::string> expected_before;
    static Fields<LineOpArgs> fields();
};

}  // namespace
}  // namespace quire::tools

namespace quire::json {

template <>
struct Words<tools::FileOperation> {
    static constexpr std::array<std::string_view, 11> words = {
        "list",    "read", "load", "create", "append", "insert",
        "replace", "edit", "save", "delete", "status"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(tools::FileOperation operation) {
        return words[static_cast<std::size_t>(operation)];
    }
};
template <>
struct Words<tools::LineOpKind> {
    static constexpr std::array<std::string_view, 3> words = {"insert", "delete", "replace"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(tools::LineOpKind kind) {
        return words[static_cast<std::size_t>(kind)];
    }
};
template <>
struct Words<kernel::Disk> {
    static constexpr std::size_t count = 3;
    static std::string_view word(kernel::Disk disk) { return kernel::name_of(disk); }
};

template <>
struct FieldsOf<kernel::FileEntry> {
    static Fields<kernel::FileEntry> fields() {
        using kernel::FileEntry;
        return Fields<FileEntry>()
            .required("path", &FileEntry::path)
            .nullable("block_id", &FileEntry::block_id)
            .nullable("version", &FileEntry::version)
            .required("size", &FileEntry::size)
            .required("permission", &FileEntry::permission);
    }
};
template <>
struct FieldsOf<kernel::FileList> {
    static Fields<kernel::FileList> fields() {
        using kernel::FileList;
        return Fields<FileList>()
            .required("files", &FileList::files)
            .required("truncated", &FileList::truncated)
            .required("skipped_names", &FileList::skipped_names);
    }
};
template <>
struct FieldsOf<kernel::FileStatus> {
    static Fields<kernel::FileStatus> fields() {
        using kernel::FileStatus;
        return Fields<FileStatus>()
            .members(Codec<kernel::FileVersion>::fields(), &FileStatus::file)
            .required("permission", &FileStatus::permission)
            .required("dirty", &FileStatus::dirty)
            .required("disk", &FileStatus::disk)
            .required("conflict", &FileStatus::conflict);
    }
};
template <>
struct FieldsOf<kernel::FileSaved> {
    static Fields<kernel::FileSaved> fields() {
        using kernel::FileSaved;
        return Fields<FileSaved>()
            .members(Codec<kernel::FileVersion>::fields(), &FileSaved::file)
            .required("bytes", &FileSaved::bytes)
            .required("written", &FileSaved::written)
            .required("notes", &FileSaved::notes);
    }
};

}  // namespace quire::json

namespace quire::tools {
namespace {

Fields<LineOpArgs> LineOpArgs::fields() {
    return Fields<LineOpArgs>()
        .required("op", &LineOpArgs::op)
        .optional("line", &LineOpArgs::line)
        .optional("start_line", &LineOpArgs::start_line)
        .optional("end_line", &LineOpArgs::end_line)
        .optional("content", &LineOpArgs::content)
        .optional("expected_text", &LineOpArgs::expected_text)
        .optional("expected_before", &LineOpArgs::expected_before);
}

using json::Codec;
using kernel::FileVersion;

struct Args {
    FileOperation operation = FileOperation::list;
    std::optional<std::string> path;
    std::optional<std::string> pattern;
    std::optional<Range> range;
    std::optional<bool> line_numbers;
    std::optional<std::string> content;
    std::optional<std::size_t> line;
    std::optional<std::string> find;
    std::optional<std::string> replace;
    std::optional<std::vector<LineOpArgs>> operations;
};

constexpr std::size_t kListedFiles = 1000;

Operations operations(bool full) {
    std::vector<std::string> of_read = {"range"};
    if (full) of_read.emplace_back("line_numbers");
    return {
        "operation",
        {{.name = "list", .more = {"pattern"}, .reads = true},
         {.name = "read", .needed = {"path"}, .more = of_read, .reads = true},
         {.name = "load", .needed = {"path"}, .more = of_read, .reads = true},
         {.name = "create", .needed = {"path"}, .more = {"content"}},
         {.name = "append", .needed = {"path", "content"}},
         {.name = "insert",
          .needed = {"path", "line", "content"},
          .says = full ? "before line." : "after line."},
         {.name = "replace", .needed = {"path", "find", "replace"}, .says = "every occurrence."},
         {.name = "edit", .needed = {"path", "operations"}},
         {.name = "save", .needed = {"path"}, .says = "writes edits to the disk."},
         {.name = "delete", .needed = {"path"}},
         {.name = "status", .more = {"path"}, .reads = true}}};
}

// --- lines, as the profile counts them ---

// `end` in the inclusive profiles may be -1, the last line.
Result<text::LineRange> line_range(const Range& range, edits::Numbering numbering) {
    const bool inclusive = numbering == edits::Numbering::one_inclusive;
    const std::int64_t first = inclusive ? 1 : 0;
    const std::int64_t end = inclusive && range.end == -1 ? INT64_MAX : range.end;
    if (range.start < first || end < range.start) {
        return invalid("invalid_range",
                       inclusive
                           ? cat("a range starts at 1 or later and ends at its start or later; -1 "
                                 "is the last line")
                           : cat("a range starts at 0 or later and ends at its start or later"),
                       {{"start", range.start}, {"end", range.end}});
    }
    return text::LineRange{{static_cast<std::size_t>(range.start - first)},
                           {static_cast<std::size_t>(end)}};
}

Result<edits::LineOp> line_op(LineOpArgs&& op, std::size_t index, edits::Numbering numbering) {
    const auto needs = [&](std::string_view names) {
        return invalid(
            "invalid_argument",
            cat("operation ", index, " (", json::Words<LineOpKind>::word(op.op), ") takes ", names),
            {{"operation", index}});
    };
    if (op.op == LineOpKind::insert) {
        if (!op.line || !op.content || op.start_line || op.end_line || op.expected_text) {
            return needs("line, content and maybe expected_before");
        }
        // "Before line n" counted from 0 is "after line n" counted from 1.
        return edits::InsertLines{
            {*op.line}, std::move(*op.content), std::move(op.expected_before)};
    }
    if (!op.start_line || !op.end_line || op.line || op.expected_before ||
        op.content.has_value() != (op.op == LineOpKind::replace)) {
        return needs(op.op == LineOpKind::replace
                         ? "start_line, end_line, content and maybe expected_text"
                         : "start_line, end_line and maybe expected_text");
    }
    const Range range{static_cast<std::int64_t>(*op.start_line),
                      static_cast<std::int64_t>(*op.end_line)};
    const text::LineRange lines = TRY(line_range(range, numbering));
    if (op.op == LineOpKind::erase) return edits::DeleteLines{lines, std::move(op.expected_text)};
    return edits::ReplaceLines{lines, std::move(*op.content), std::move(op.expected_text)};
}

// The plan of insert, replace and edit.
Result<edits::Plan> plan_of(Args& args, const kernel::Kernel& kernel, edits::Numbering numbering) {
    const edits::EditLimits limits = edit_limits(kernel);
    if (args.operation == FileOperation::replace) {
        return edits::str_replace({.old_str = std::move(*args.find),
                                   .new_str = std::move(*args.replace),
                                   .replace_all = true,
                                   .numbering = numbering,
                                   .limits = limits,
                                   .words = {.old_str = "find",
                                             .whole = "the file",
                                             .look = "Read the file",
                                             .to_add = "use operation insert to add lines"}});
    }
    edits::LineEdit edit;
    edit.numbering = numbering;
    edit.limits = limits;
    if (args.operation == FileOperation::insert) {
        edit.operations.emplace_back(
            edits::InsertLines{{*args.line}, std::move(*args.content), {}});
        edit.words.to_delete = "operation edit deletes lines with op \"delete\"";
    } else {
        for (LineOpArgs& op : *args.operations) {
            edit.operations.push_back(
                TRY(line_op(std::move(op), edit.operations.size(), numbering)));
        }
    }
    return edits::line_edits(std::move(edit));
}

// --- answers ---

std::string done_line(const FileVersion& file, std::string_view what) {
    return cat("Done: ", what, " ", file.path, " (", file.block_id, ", version ", file.version,
               ").\n");
}

struct Done {
    FileVersion file;
    std::optional<std::string> snippet = {};  // Of what was written; `full` has none.
    static Fields<Done> fields() {
        return Fields<Done>()
            .members(Codec<FileVersion>::fields(), &Done::file)
            .optional("snippet", &Done::snippet);
    }
};
struct AllStatus {
    std::vector<kernel::FileStatus> files;
    static Fields<AllStatus> fields() {
        return Fields<AllStatus>().required("files", &AllStatus::files);
    }
};
using Read = About<FileVersion, ShownBlock>;
using EditedFile = About<FileVersion, EditAnswer>;

// What any of the operations answers. A model is told of what most have.
Map answer(bool full) {
    if (!full) return one_of({Codec<FileVersion>::schema(), {}});
    return one_of({Codec<Done>::schema(), Codec<Read>::schema(), Codec<EditedFile>::schema(),
                   Codec<kernel::FileSaved>::schema(), Codec<kernel::FileStatus>::schema(),
                   Codec<AllStatus>::schema(), Codec<kernel::FileList>::schema()});
}

ToolResult render_created(const FileVersion& file, std::string shown, Profile profile) {
    std::string text = cat(done_line(file, "created"), shown);
    Done out{file};
    if (profile != Profile::full) out.snippet = std::move(shown);
    return result_of(out, std::move(text));
}

ToolResult render_saved(const kernel::FileSaved& saved) {
    return result_of(
        saved, cat(done_line(saved.file,
                             saved.written ? "saved"
                                           : "nothing to save: the disk already has this text of"),
                   note_lines(saved.notes)));
}

ToolResult render_appended(const kernel::FileAppended& appended, Profile profile) {
    const std::optional<edits::Change>& change = appended.appended.change;
    Done out{appended.file};
    if (change && profile != Profile::full) out.snippet = snippet_of(*change, profile);
    return result_of(out, cat(done_line(appended.file, "appended to"),
                              change ? snippet_text(*change, profile) : std::string()));
}

ToolResult render_edited_file(const kernel::FileEdited& edited, Profile profile) {
    auto [change, text] = render_edited(edited.edited, profile);
    return result_of(EditedFile{edited.file, std::move(change)}, std::move(text));
}

ToolResult render_list(const kernel::FileList& list, bool had_pattern) {
    std::string text;
    for (const kernel::FileEntry& file : list.files)
        text += cat(file.path, "\t", name_of(file.permission), "\t", file.size, "\n");
    if (list.files.empty()) {
        text = had_pattern ? "No file matches. A pattern without '/' is compared with names; "
                             "'DIR/**' is all below DIR.\n"
                           : "No files.\n";
    }
    if (list.truncated)
        text += cat("Only the first ", list.files.size(), " are shown; narrow the pattern.\n");
    if (list.skipped_names > 0)
        text += cat(list.skipped_names, " with names that are not UTF-8 were left out.\n");
    return result_of(list, std::move(text));
}

std::string status_line(const kernel::FileStatus& status) {
    return cat(status.file.path, ": ", name_of(status.permission), ", ",
               status.dirty ? "edits not saved" : "no edits to save", ", on disk ",
               name_of(status.disk), ", ", status.file.block_id, " version ", status.file.version,
               "\n");
}

ToolResult render_status(std::vector<kernel::FileStatus> all, bool one) {
    if (one) return result_of(all.front(), status_line(all.front()));
    std::string text = all.empty() ? "No file has been opened yet.\n" : "";
    for (const kernel::FileStatus& status : all) text += status_line(status);
    return result_of(AllStatus{std::move(all)}, std::move(text));
}

void list(kernel::FileCalls& files, const kernel::Caller& by,
          const std::optional<std::string>& pattern, Reply<ToolResult> reply) {
    std::optional<text::Glob> glob;
    if (pattern) {
        Result<text::Glob> compiled = text::Glob::compile(*pattern);
        if (!compiled) return reply(Failure(std::move(compiled).error()));
        glob = std::move(*compiled);
    }
    files.list(by, std::move(glob), kListedFiles,
               answer_with<kernel::FileList>(std::move(reply), [had_pattern = pattern.has_value()](
                                                                   const kernel::FileList& listed) {
                   return render_list(listed, had_pattern);
               }));
}

void read(kernel::FileCalls& files, const Session& session, std::string path, const Args& args,
          Reply<ToolResult> reply) {
    const Profile profile = session.profile;
    const edits::Numbering numbering = numbering_of(profile);
    std::optional<text::LineRange> range;
    if (args.range) {
        Result<text::LineRange> lines = line_range(*args.range, numbering);
        if (!lines) return reply(Failure(std::move(lines).error()));
        range = *lines;
    }
    const bool from_one = range && numbering == edits::Numbering::one_inclusive;
    const std::size_t first = from_one ? range->begin.n + 1 : 0;
    files.read(session.caller, std::move(path), range,
               [reply = std::move(reply), profile, first,
                numbers = args.line_numbers.value_or(true)](Result<kernel::FileRead> file) mutable {
                   const Error* const error = file ? nullptr : &file.error();
                   const std::size_t lines = file ? file->text.info.line_count : 0;
                   auto past =
                       first > 0 ? past_the_end(first, error, lines) : std::optional<Error>();
                   if (past) return reply(Failure(std::move(*past)));
                   if (!file) return reply(Failure(std::move(file).error()));
                   auto [shown, text] = render_block(file->text, profile, numbers);
                   reply(result_of(Read{file->file, std::move(shown)}, std::move(text)));
               });
}

void run(kernel::Kernel& kernel, kernel::FileCalls& files, const Session& session, Args args,
         Reply<ToolResult> reply) {
    const kernel::Caller& by = session.caller;
    const Profile profile = session.profile;
    const edits::Numbering numbering = numbering_of(profile);
    std::string path = args.path.value_or("");

    switch (args.operation) {
        case FileOperation::list:
            return list(files, by, args.pattern, std::move(reply));
        case FileOperation::read:
        case FileOperation::load:
            return read(files, session, std::move(path), args, std::move(reply));
        case FileOperation::create: {
            std::string content = args.content.value_or("");
            std::string shown = beginning_of(content, profile);
            return files.create(
                by, std::move(path), std::move(content),
                answer_with<FileVersion>(
                    std::move(reply), [profile, shown = std::move(shown)](const FileVersion& file) {
                        return render_created(file, shown, profile);
                    }));
        }
        case FileOperation::append:
            return files.append(
                by, std::move(path), std::move(*args.content),
                answer_with<kernel::FileAppended>(std::move(reply),
                                                  [profile](const kernel::FileAppended& appended) {
                                                      return render_appended(appended, profile);
                                                  }));
        case FileOperation::insert:
        case FileOperation::replace:
        case FileOperation::edit: {
            Result<edits::Plan> plan = plan_of(args, kernel, numbering);
            if (!plan) return reply(Failure(std::move(plan).error()));
            return files.edit(by, std::move(path),
                              std::string(json::Words<FileOperation>::word(args.operation)),
                              std::move(*plan),
                              answer_with<kernel::FileEdited>(
                                  std::move(reply), [profile](const kernel::FileEdited& edited) {
                                      return render_edited_file(edited, profile);
                                  }));
        }
        case FileOperation::save:
            return files.save(by, std::move(path),
                              answer_with<kernel::FileSaved>(std::move(reply), render_saved));
        case FileOperation::erase:
            return files.erase(
                by, std::move(path),
                answer_with<FileVersion>(std::move(reply), [](const FileVersion& file) {
                    return result_of(Done{file}, done_line(file, "deleted"));
                }));
        case FileOperation::status:
            return files.status(by, args.path,
                                answer_with<std::vector<kernel::FileStatus>>(
                                    std::move(reply), [one = args.path.has_value()](
                                                          std::vector<kernel::FileStatus> all) {
                                        return render_status(std::move(all), one);
                                    }));
    }
}

// Published to every model at every start, so each word of it is paid for again and again.
constexpr std::string_view kWhatItIs = "Files by path from the workspace's root. ";

}  // namespace

std::unique_ptr<const Tool> make_file(kernel::Kernel& kernel, kernel::FileCalls& files,
                                      Profile profile) {
    const bool full = profile == Profile::full;
    Fields<Args> fields = Fields<Args>()
                              .required("operation", &Args::operation)
                              .optional("path", &Args::path)
                              .optional("pattern", &Args::pattern)
                              .optional("range", &Args::range)
                              .optional("content", &Args::content)
                              .optional("line", &Args::line)
                              .optional("find", &Args::find)
                              .optional("replace", &Args::replace)
                              .optional("operations", &Args::operations);
    if (full) fields.optional("line_numbers", &Args::line_numbers);
    return make_tool<Args>(
        {.name = "file",
         .title = "Work with files",
         .description =
             cat(kWhatItIs, full ? "Lines count from 0, end not included." : "Lines count from 1."),
         .annotations = {.destructive = true},
         .answer = answer(full),
         .operations = operations(full)},
        std::move(fields),
        [&kernel, &files](const Session& session, Args args, Reply<ToolResult> reply) {
            run(kernel, files, session, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
