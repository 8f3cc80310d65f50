// file: the files of the workspace, by path. One tool with an operation, so that a rule can allow
// some of them.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/cat.h"
#include "blocks/line_edit.h"
#include "blocks/str_replace.h"
#include "tools/files.h"
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

template <>
struct Words<FileOperation> {
    static constexpr std::array<std::string_view, 11> words = {
        "list",    "read", "load", "create", "append", "insert",
        "replace", "edit", "save", "delete", "status"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(FileOperation operation) {
        return words[static_cast<std::size_t>(operation)];
    }
};

namespace {

struct Range {
    std::int64_t start = 0;
    std::int64_t end = 0;
};
const Fields<Range>& range_fields() {
    static const Fields<Range> fields =
        Fields<Range>().required("start", &Range::start).required("end", &Range::end);
    return fields;
}

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
};

}  // namespace

template <>
struct Words<LineOpKind> {
    static constexpr std::array<std::string_view, 3> words = {"insert", "delete", "replace"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(LineOpKind kind) { return words[static_cast<std::size_t>(kind)]; }
};
template <>
struct Codec<Range> {
    static Map schema() { return range_fields().schema(); }
    static Range decode(const Value& value) { return range_fields().decode(value); }
};
template <>
struct Codec<LineOpArgs> {
    static const Fields<LineOpArgs>& fields() {
        static const Fields<LineOpArgs> fields =
            Fields<LineOpArgs>()
                .required("op", &LineOpArgs::op)
                .optional("line", &LineOpArgs::line)
                .optional("start_line", &LineOpArgs::start_line)
                .optional("end_line", &LineOpArgs::end_line)
                .optional("content", &LineOpArgs::content)
                .optional("expected_text", &LineOpArgs::expected_text)
                .optional("expected_before", &LineOpArgs::expected_before);
        return fields;
    }
    static Map schema() { return fields().schema(); }
    static LineOpArgs decode(const Value& value) { return fields().decode(value); }
};

namespace {

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
Result<text::LineRange> line_range(const Range& range, blocks::Numbering numbering) {
    const bool inclusive = numbering == blocks::Numbering::one_inclusive;
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

Result<blocks::LineOp> line_op(LineOpArgs&& op, std::size_t index, blocks::Numbering numbering) {
    const auto needs = [&](std::string_view names) {
        return invalid(
            "invalid_argument",
            cat("operation ", index, " (", Words<LineOpKind>::word(op.op), ") takes ", names),
            {{"operation", index}});
    };
    if (op.op == LineOpKind::insert) {
        if (!op.line || !op.content || op.start_line || op.end_line || op.expected_text) {
            return needs("line, content and maybe expected_before");
        }
        // "Before line n" counted from 0 is "after line n" counted from 1.
        return blocks::InsertLines{
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
    if (op.op == LineOpKind::erase) return blocks::DeleteLines{lines, std::move(op.expected_text)};
    return blocks::ReplaceLines{lines, std::move(*op.content), std::move(op.expected_text)};
}

// The plan of insert, replace and edit.
Result<blocks::Plan> plan_of(Args& args, const kernel::Kernel& kernel,
                             blocks::Numbering numbering) {
    const blocks::EditLimits limits = edit_limits(kernel);
    if (args.operation == FileOperation::replace) {
        return blocks::str_replace({.old_str = std::move(*args.find),
                                    .new_str = std::move(*args.replace),
                                    .replace_all = true,
                                    .numbering = numbering,
                                    .limits = limits,
                                    .words = {.old_str = "find",
                                              .whole = "the file",
                                              .look = "Read the file",
                                              .to_add = "use operation insert to add lines"}});
    }
    blocks::LineEdit edit;
    edit.numbering = numbering;
    edit.limits = limits;
    if (args.operation == FileOperation::insert) {
        edit.operations.emplace_back(
            blocks::InsertLines{{*args.line}, std::move(*args.content), {}});
        edit.words.to_delete = "operation edit deletes lines with op \"delete\"";
    } else {
        for (LineOpArgs& op : *args.operations) {
            edit.operations.push_back(
                TRY(line_op(std::move(op), edit.operations.size(), numbering)));
        }
    }
    return blocks::line_edits(std::move(edit));
}

// --- answers ---

ToolResult done(const FileVersion& file, std::string_view what, Map more = {}) {
    return of_file(file, {std::move(more), cat("Done: ", what, " ", file.path, " (", file.block_id,
                                               ", version ", file.version, ").\n")});
}

ToolResult render_saved(const kernel::FileSaved& saved) {
    ToolResult out = done(
        saved.file, saved.written ? "saved" : "nothing to save: the disk already has this text of",
        {{"bytes", saved.bytes}, {"written", saved.written}, {"notes", strings(saved.notes)}});
    for (const std::string& note : saved.notes) out.text += cat("Note: ", note, ".\n");
    return out;
}

ToolResult render_appended(const kernel::FileAppended& appended, Profile profile) {
    const std::optional<blocks::Change>& change = appended.appended.change;
    Map more;
    if (change && profile != Profile::full) more.append("snippet", snippet_of(*change, profile));
    ToolResult out = done(appended.file, "appended to", std::move(more));
    if (change) out.text += snippet_text(*change, profile);
    return out;
}

ToolResult render_list(const kernel::FileList& list, bool had_pattern) {
    List files;
    std::string text;
    for (const kernel::FileEntry& file : list.files) {
        files.push_back(Map{{"path", file.path},
                            {"block_id", file.block_id.empty() ? Value() : Value(file.block_id)},
                            {"version", file.version ? Value(*file.version) : Value()},
                            {"size", file.size},
                            {"permission", name_of(file.permission)}});
        text += cat(file.path, "\t", name_of(file.permission), "\t", file.size, "\n");
    }
    if (list.files.empty()) {
        text = had_pattern ? "No file matches. A pattern without '/' is compared with names; "
                             "'DIR/**' is all below DIR.\n"
                           : "No files.\n";
    }
    if (list.truncated)
        text += cat("Only the first ", list.files.size(), " are shown; narrow the pattern.\n");
    if (list.skipped_names > 0)
        text += cat(list.skipped_names, " with names that are not UTF-8 were left out.\n");
    return {Map{{"files", std::move(files)},
                {"truncated", list.truncated},
                {"skipped_names", list.skipped_names}},
            std::move(text)};
}

Map status_map(const kernel::FileStatus& status) {
    return {{"path", status.file.path},       {"block_id", status.file.block_id},
            {"version", status.file.version}, {"permission", name_of(status.permission)},
            {"dirty", status.dirty},          {"disk", name_of(status.disk)},
            {"conflict", status.conflict}};
}

std::string status_line(const kernel::FileStatus& status) {
    return cat(status.file.path, ": ", name_of(status.permission), ", ",
               status.dirty ? "edits not saved" : "no edits to save", ", on disk ",
               name_of(status.disk), ", ", status.file.block_id, " version ", status.file.version,
               "\n");
}

ToolResult render_status(const std::vector<kernel::FileStatus>& all, bool one) {
    if (one) return {status_map(all.front()), status_line(all.front())};
    List files;
    std::string text;
    for (const kernel::FileStatus& status : all) {
        files.push_back(status_map(status));
        text += status_line(status);
    }
    return {Map{{"files", std::move(files)}},
            text.empty() ? "No file has been opened yet.\n" : std::move(text)};
}

void run(kernel::Kernel& kernel, kernel::FileCalls& files, const Session& session, Args args,
         Reply<ToolResult> reply) {
    const auto refuse = [&](const Error& error) { reply(refused(error)); };
    const kernel::Caller& by = session.caller;
    const Profile profile = session.profile;
    const blocks::Numbering numbering = numbering_of(profile);
    std::string path = args.path.value_or("");

    switch (args.operation) {
        case FileOperation::list: {
            std::optional<text::Glob> glob;
            if (args.pattern) {
                Result<text::Glob> compiled = text::Glob::compile(*args.pattern);
                if (!compiled) return refuse(compiled.error());
                glob = std::move(*compiled);
            }
            const bool had_pattern = glob.has_value();
            return files.list(by, std::move(glob), kListedFiles,
                              answer_with<kernel::FileList>(
                                  std::move(reply), [had_pattern](const kernel::FileList& list) {
                                      return render_list(list, had_pattern);
                                  }));
        }
        case FileOperation::read:
        case FileOperation::load: {
            std::optional<text::LineRange> range;
            if (args.range) {
                const Result<text::LineRange> lines = line_range(*args.range, numbering);
                if (!lines) return refuse(lines.error());
                range = *lines;
            }
            const bool from_one = range && numbering == blocks::Numbering::one_inclusive;
            const std::size_t first = from_one ? range->begin.n + 1 : 0;
            return files.read(
                by, std::move(path), range,
                [reply = std::move(reply), profile, first,
                 numbers =
                     args.line_numbers.value_or(true)](Result<kernel::FileRead> file) mutable {
                    const Error* const error = file ? nullptr : &file.error();
                    const std::size_t lines = file ? file->text.info.line_count : 0;
                    const auto past =
                        first > 0 ? past_the_end(first, error, lines) : std::optional<Error>();
                    if (past) return reply(refused(*past));
                    if (!file) return reply(refused(*error));
                    reply(of_file(file->file, render_block(file->text, profile, numbers)));
                });
        }
        case FileOperation::create: {
            std::string content = args.content.value_or("");
            std::string shown = beginning_of(content, profile);
            return files.create(
                by, std::move(path), std::move(content),
                answer_with<FileVersion>(
                    std::move(reply), [profile, shown = std::move(shown)](const FileVersion& file) {
                        Map more;
                        if (profile != Profile::full) more.append("snippet", shown);
                        ToolResult out = done(file, "created", std::move(more));
                        out.text += shown;
                        return out;
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
            Result<blocks::Plan> plan = plan_of(args, kernel, numbering);
            if (!plan) return refuse(plan.error());
            return files.edit(
                by, std::move(path), std::string(Words<FileOperation>::word(args.operation)),
                std::move(*plan),
                answer_with<kernel::FileEdited>(
                    std::move(reply), [profile](const kernel::FileEdited& edited) {
                        return of_file(edited.file, render_edited(edited.edited, profile));
                    }));
        }
        case FileOperation::save:
            return files.save(by, std::move(path),
                              answer_with<kernel::FileSaved>(std::move(reply), render_saved));
        case FileOperation::erase:
            return files.erase(
                by, std::move(path),
                answer_with<FileVersion>(std::move(reply), [](const FileVersion& file) {
                    return done(file, "deleted");
                }));
        case FileOperation::status:
            return files.status(
                by, args.path,
                answer_with<std::vector<kernel::FileStatus>>(
                    std::move(reply),
                    [one = args.path.has_value()](const std::vector<kernel::FileStatus>& all) {
                        return render_status(all, one);
                    }));
    }
}

// Published to every model at every start, so each word of it is paid for again and again.
constexpr std::string_view kWhatItIs = "Files by path from the workspace's root. ";

}  // namespace

ToolResult of_file(const kernel::FileVersion& file, ToolResult result) {
    Map out{{"path", file.path}, {"block_id", file.block_id}, {"version", file.version}};
    for (Map::Entry& entry : result.structured.as_map()) {
        if (entry.key != "version") out.set(entry.key, std::move(entry.value));
    }
    return {std::move(out), std::move(result.text), result.is_error};
}

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
    if (full) static_cast<void>(std::move(fields).optional("line_numbers", &Args::line_numbers));
    return make_tool<Args>(
        {.name = "file",
         .title = "Work with files",
         .description =
             cat(kWhatItIs, full ? "Lines count from 0, end not included." : "Lines count from 1."),
         .annotations = {.destructive = true},
         .output_schema =
             object_schema({{"path", "string?"}, {"block_id", "string?"}, {"version", "integer?"}}),
         .operations = operations(full)},
        std::move(fields),
        [&kernel, &files](const Session& session, Args args, Reply<ToolResult> reply) {
            run(kernel, files, session, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
