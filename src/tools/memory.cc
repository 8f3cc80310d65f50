// memory: text memory blocks as files below /memories, by the commands, the argument names and the
// answers that models know from elsewhere. A label is the path below /memories; labels that share a
// beginning up to a '/' are a directory. Permissions are those of the tool context.
//
// There are no directories: one exists as long as a label goes through it, so it is never made, and
// is gone with its last memory. Labels are checked here only as paths; what a label may be is the
// kernel's to say.
#include <set>
#include <utility>

#include "base/concat.h"
#include "kernel/memory/memory_calls.h"
#include "tools/editor_words.h"
#include "tools/memory_fields.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {
namespace {

using kernel::MemoryVersion;

constexpr std::string_view kRoot = "/memories";
constexpr EditorNouns kMemoryNouns{"the memory", "View the memory"};

// The kernel says the limits of an edit; the rest is done by its calls on memory.
struct MemoryEditor {
    kernel::Kernel& kernel;
    kernel::MemoryCalls& memory;
};

// --- paths ---

Failure outside(const std::string& path) {
    return invalid("invalid_path",
                   cat("Invalid path: ", path, ". A memory's path is ", kRoot,
                       "/NAME and may go through directories; no part of it may be '.', '..' or "
                       "empty"),
                   {{"path", path}});
}

// The label that a path stands for; "" is the root itself. A directory may end in a slash.
Result<std::string> label_of(const std::string& path) {
    std::string_view rest = path;
    if (!rest.starts_with(kRoot)) return outside(path);
    rest.remove_prefix(kRoot.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty()) return std::string();
    if (!rest.starts_with('/')) return outside(path);
    rest.remove_prefix(1);
    for (std::string_view left = rest;;) {
        const std::size_t slash = left.find('/');
        const std::string_view name = left.substr(0, slash);
        if (name.empty() || name == "." || name == "..") return outside(path);
        if (slash == std::string_view::npos) return std::string(rest);
        left.remove_prefix(slash + 1);
    }
}

// The label of one memory; a path that can only be a directory is refused, which the root is and
// any path with a slash at its end.
Result<std::string> memory_of(const std::string& path) {
    std::string label = TRY(label_of(path));
    if (label.empty() || path.ends_with('/')) return outside(path);
    return label;
}

// --- answers ---

// A refusal of the kernel, after the words in which models know it. Reason and code stay the
// kernel's.
ToolResult refused_memory(const Error& error, const EditorAsk& ask) {
    std::string known;
    // An archival block is in nobody's context, and so is not below /memories.
    if (error.reason() == "invalid_reference" || error.reason() == "archived")
        known = cat("The path ", ask.path, " does not exist. Please provide a valid path. ");
    if (error.reason() == "schema_mismatch" || error.reason() == "section_required") {
        known = cat(ask.path, " has structure and is not text: read and write it with the tool ",
                    "context. ");
    }
    if (error.reason() == "label_exists") known = cat("File ", ask.path, " already exists. ");
    return refused_as_known(error, ask, known);
}

struct MemoryFile {
    std::string path;
    std::string label;
    std::string block_id;
    std::uint64_t version = 0;
    static Fields<MemoryFile> fields() {
        return Fields<MemoryFile>()
            .required("path", &MemoryFile::path)
            .required("label", &MemoryFile::label)
            .required("block_id", &MemoryFile::block_id)
            .required("version", &MemoryFile::version);
    }
};
using MemoryViewed = About<MemoryFile, ShownLines>;
using MemoryChanged = About<MemoryFile, EditAnswer>;

// The block as a file: its label is the path below the root.
MemoryFile memory_file_of(const MemoryVersion& block) {
    return {cat(kRoot, "/", block.label), block.label, block.block_id, block.version};
}

// --- view ---

struct MemoryDirectory {
    std::string path;
    std::string label;  // "" is the root.
    bool by_lines = false;
};

// Lists a directory. Only the root may be empty, because a directory exists if a memory is in it.
void view_memory_directory(MemoryEditor editor, OperationCall call, MemoryDirectory directory) {
    const std::string prefix = directory.label.empty() ? "" : directory.label + "/";
    editor.memory.list(
        call.by(), {.prefix = prefix},
        [directory = std::move(directory),
         reply = std::move(call.reply)](Result<kernel::MemoryList> list) mutable {
            if (!list) return reply(Failure(std::move(list).error()));
            const auto& [path, label, by_lines] = directory;
            std::set<std::string> entries;
            for (const kernel::MemoryRow& row : list->blocks) {
                // The view leaves out what the other commands would refuse: blocks with structure,
                // and archived ones.
                const bool shown = row.is_text && row.type != kernel::MemoryType::archival;
                if (shown) add_entry_below(entries, label, row.address);
            }
            if (entries.empty() && !label.empty()) {
                return reply(fail(
                    Errc::not_found, "invalid_reference",
                    cat("The path ", path, " does not exist. Please provide a valid path. View ",
                        kRoot, " to see which there are"),
                    {{"path", path}}));
            }
            if (by_lines) {
                return reply(invalid("invalid_range",
                                     "The `view_range` parameter is not allowed when `path` points "
                                     "to a directory"));
            }
            reply(result_of(render_directory(path, cat(kRoot, "/"), entries, false)));
        });
}

// A path may be a memory or a directory; only a read tells which. So a read that finds nothing is
// followed by a list, and only that one says that the path does not exist.
void view_memory_file(MemoryEditor editor, OperationCall call, std::string path,
                      std::optional<std::vector<std::int64_t>> view_range) {
    const Result<std::string> label = label_of(path);
    if (!label) return call.reply(Failure(label.error()));
    MemoryDirectory directory{path, *label, view_range.has_value()};
    if (label->empty() || path.ends_with('/'))
        return view_memory_directory(editor, std::move(call), std::move(directory));
    std::optional<text::LineRange> range;
    if (view_range) {
        const Result<text::LineRange> lines = lines_of(*view_range);
        if (!lines) return call.reply(Failure(lines.error()));
        range = *lines;
    }
    editor.memory.read_text(
        call.by(), kernel::TextLabel{*label}, range,
        [editor, session = call.session, directory = std::move(directory), range,
         reply = std::move(call.reply)](Result<kernel::MemoryText> read) mutable {
            const Error* const error = read ? nullptr : &read.error();
            if (error != nullptr && error->reason() == "invalid_reference") {
                return view_memory_directory(editor, {session, std::move(reply)},
                                             std::move(directory));
            }
            const auto past =
                range ? past_the_end(range->begin.n + 1, error, read ? read->line_count : 0)
                      : std::optional<Error>();
            if (past) return reply(refused(*past));
            if (!read) return reply(refused_memory(*error, {directory.path}));
            auto [lines, text] =
                render_lines(cat("Here's the content of ", directory.path, " with line numbers:\n"),
                             read->view, read->line_count);
            reply(result_of(MemoryViewed{memory_file_of(read->block), std::move(lines)},
                            std::move(text)));
        });
}

// --- create, str_replace, insert ---

// A new block has the schema Text.
void create_memory_file(MemoryEditor editor, OperationCall call, std::string path,
                        std::string file_text) {
    Result<std::string> label = memory_of(path);
    if (!label) return call.reply(Failure(label.error()));
    kernel::MemoryCreate what;
    what.label = std::move(*label);
    what.schema = Value("Text");
    what.content = std::move(file_text);
    editor.memory.create(call.by(), std::move(what),
                         [path = std::move(path),
                          reply = std::move(call.reply)](Result<MemoryVersion> made) mutable {
                             if (!made) return reply(refused_memory(made.error(), {path}));
                             reply(result_of(memory_file_of(*made),
                                             cat("File created successfully at: ", path, "\n")));
                         });
}

// Plans and applies one edit. Both commands that edit say so in their own first line, which models
// have learnt: "The file …" after an insert, "The memory file …" after a replacement.
void change_memory_file(MemoryEditor editor, OperationCall call, EditorAsk ask, std::string command,
                        edits::Plan plan) {
    Result<std::string> label = memory_of(ask.path);
    if (!label) return call.reply(Failure(label.error()));
    editor.memory.edit_text(
        call.by(), kernel::TextLabel{std::move(*label)}, std::move(command), std::move(plan),
        [ask, reply = std::move(call.reply)](Result<kernel::MemoryEdited> made) mutable {
            if (!made) return reply(refused_memory(made.error(), ask));
            const auto& [block, edited] = *made;
            const std::string what =
                ask.insert_line ? cat("The file ", ask.path) : std::string("The memory file");
            const std::string text = edited_text(
                cat(what,
                    " has been edited. Here's the result of running `cat -n` on a snippet of "
                    "it:\n"),
                edited, kMemoryNouns, ask.path);
            reply(result_of(
                MemoryChanged{memory_file_of(block), render_edited(edited, Profile::compat).answer},
                cat(text, note_lines(edited.notes))));
        });
}

void replace_in_memory_file(MemoryEditor editor, OperationCall call, std::string path,
                            std::string old_str, std::optional<std::string> new_str) {
    const EditorAsk ask{std::move(path), std::move(old_str)};
    change_memory_file(
        editor, std::move(call), ask, "str_replace",
        replacement(ask, std::move(new_str).value_or(""), editor.kernel, kMemoryNouns));
}

void insert_in_memory_file(MemoryEditor editor, OperationCall call, std::string path,
                           std::size_t insert_line, std::string insert_text) {
    const EditorAsk ask{std::move(path), "", insert_line};
    change_memory_file(editor, std::move(call), ask, "insert",
                       insertion(ask, std::move(insert_text), editor.kernel));
}

// --- delete, rename ---

// A directory is not deleted or renamed as a whole: half of it could be refused.
struct WholeMemory {
    std::string path;
    std::string label;
    std::string_view done;  // "deleted"
};

// Answers a call about a memory that is not there: it may be a directory.
void refuse_missing_memory(MemoryEditor editor, OperationCall call, const Error& error,
                           WholeMemory asked) {
    const std::string prefix = asked.label + "/";
    editor.memory.list(
        call.by(), {.prefix = prefix},
        [asked = std::move(asked), error,
         reply = std::move(call.reply)](const Result<kernel::MemoryList>& list) mutable {
            if (!list || list->blocks.empty()) return reply(refused_memory(error, {asked.path}));
            reply(invalid("is_directory",
                          cat(asked.path, " is a directory with ", list->blocks.size(),
                              list->blocks.size() == 1 ? " memory" : " memories",
                              " in it, which are ", asked.done, " one by one; view it to see them"),
                          {{"path", asked.path}}));
        });
}

void delete_memory_file(MemoryEditor editor, OperationCall call, std::string path) {
    const Result<std::string> label = memory_of(path);
    if (!label) return call.reply(Failure(label.error()));
    editor.memory.erase(
        call.by(), kernel::TextLabel{*label},
        [editor, session = call.session, path, label = *label,
         reply = std::move(call.reply)](Result<MemoryVersion> done) mutable {
            if (!done && done.error().reason() == "invalid_reference") {
                return refuse_missing_memory(editor, {session, std::move(reply)}, done.error(),
                                             {path, label, "deleted"});
            }
            if (!done) return reply(refused_memory(done.error(), {path}));
            reply(result_of(memory_file_of(*done), cat("Successfully deleted ", path, "\n")));
        });
}

// A taken name is refused by the destination, everything else by the source: the refusal names the
// path that is at fault, and the kernel alone knows which it is.
void rename_memory_file(MemoryEditor editor, OperationCall call, std::string old_path,
                        std::string new_path) {
    const Result<std::string> from = memory_of(old_path);
    const Result<std::string> to = memory_of(new_path);
    if (!from || !to) return call.reply(Failure(from ? to.error() : from.error()));
    editor.memory.rename(
        call.by(), kernel::TextLabel{*from}, *to,
        [editor, session = call.session, old_path, new_path, from = *from,
         reply = std::move(call.reply)](Result<MemoryVersion> done) mutable {
            if (done) {
                return reply(result_of(memory_file_of(*done), cat("Successfully renamed ", old_path,
                                                                  " to ", new_path, "\n")));
            }
            const Error& error = done.error();
            if (error.reason() == "invalid_reference") {
                return refuse_missing_memory(editor, {session, std::move(reply)}, error,
                                             {old_path, from, "renamed"});
            }
            if (error.reason() != "label_exists") return reply(refused_memory(error, {old_path}));
            reply(refused_as_known(error, {new_path},
                                   cat("The destination ", new_path, " already exists. ")));
        });
}

std::vector<OperationRow<MemoryEditor>> memory_rows() {
    const Argument path{"path", "Below /memories."};
    auto rows = editor_rows<MemoryEditor>(
        {view_memory_file, create_memory_file, replace_in_memory_file, insert_in_memory_file},
        path);
    rows.push_back({{.name = "delete", .says = "deletes one file"}, delete_memory_file, {path}});
    // An older form of the tool called the file to rename `path`.
    rows.push_back(
        {{.name = "rename", .says = "renames one file", .renamed = {{"path", "old_path"}}},
         rename_memory_file,
         {{"old_path", "Below /memories."}, {"new_path", "Below /memories."}}});
    return rows;
}

}  // namespace

std::vector<std::string> memory_operations() {
    return operation_names(memory_rows());
}

MadeTool make_memory(kernel::Kernel& kernel, kernel::MemoryCalls& memory) {
    return make_operation_tool<MemoryEditor>(
        {.name = "memory",
         .title = "View and edit memory files",
         .description =
             "Text memories as files below /memories, kept between sessions. The tool context has "
             "the same memories, with their history and undo.",
         .annotations = {.destructive = true},
         .answer =
             one_of({json::Codec<MemoryFile>::schema(), json::Codec<MemoryViewed>::schema(),
                     json::Codec<MemoryChanged>::schema(), json::Codec<ShownDirectory>::schema()})},
        "command", {kernel, memory}, memory_rows());
}

}  // namespace quire::tools
