// memory: text memory blocks as files below /memories, by the commands, the argument names and the
// answers that models have learnt. A label is the path below; a directory is what labels have in
// common. Who may do what is as for the tool context.
#include <array>
#include <set>
#include <utility>

#include "base/concat.h"
#include "tools/editor_words.h"
#include "tools/memories.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

enum class MemoryCommand { view, create, str_replace, insert, erase, rename };

}  // namespace quire::tools

namespace quire::json {

template <>
struct Words<tools::MemoryCommand> {
    static constexpr std::array<std::string_view, 6> words = {"view",   "create", "str_replace",
                                                              "insert", "delete", "rename"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(tools::MemoryCommand command) {
        return words[static_cast<std::size_t>(command)];
    }
};

}  // namespace quire::json

namespace quire::tools {
namespace {

using kernel::MemoryVersion;

constexpr std::string_view kRoot = "/memories";
constexpr EditorNouns kMemory{"the memory", "View the memory"};

struct Args : EditorText {
    MemoryCommand command = MemoryCommand::view;
    std::optional<std::string> path;
    std::optional<std::string> old_path;
    std::optional<std::string> new_path;
};

Operations operations() {
    Operations out{"command", editor_operations()};
    const std::string says = "one file.";
    out.all.push_back({.name = "delete", .needed = {"path"}, .says = says});
    // An earlier form of the tool named what is renamed by its path.
    out.all.push_back({.name = "rename",
                       .needed = {"old_path", "new_path"},
                       .says = says,
                       .earlier = {{"path", "old_path"}}});
    return out;
}

// --- paths ---

Failure outside(const std::string& path) {
    return invalid("invalid_path",
                   cat("Invalid path: ", path, ". A memory's path is ", kRoot,
                       "/NAME, and may have directories in it; '.', '..' and empty names are none"),
                   {{"path", path}});
}

// The label that a path stands for; "" is the root itself. A slash at the end is of a directory.
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

// Of one memory, and not of the root.
Result<std::string> memory_of(const std::string& path) {
    std::string label = TRY(label_of(path));
    if (label.empty() || path.ends_with('/')) return outside(path);
    return label;
}

// --- answers ---

EditorAsk ask_of(const Args& args) {
    return args.ask_of(args.path.value_or(args.old_path.value_or("")));
}

ToolResult refused_as_known(const Error& error, const EditorAsk& ask) {
    std::string known;
    // An archival block is out of everybody's context, and so not below /memories.
    if (error.reason() == "invalid_reference" || error.reason() == "archived")
        known = cat("The path ", ask.path, " does not exist. Please provide a valid path. ");
    if (error.reason() == "schema_mismatch" || error.reason() == "section_required") {
        known = cat(ask.path, " has structure and is no text: read and write it with the tool ",
                    "context. ");
    }
    return refused_as_known(error, ask, known);
}

ToolResult refused_as_taken(const Error& error, const Args& args, const std::string& path) {
    if (error.reason() != "label_exists") return refused_as_known(error, ask_of(args));
    const bool renames = args.command == MemoryCommand::rename;
    return refused(Error(
        error.code(), error.reason(),
        cat(renames ? "The destination " : "File ", path, " already exists. ", error.message()),
        error.details()));
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
using View = About<MemoryFile, ShownLines>;
using EditedMemory = About<MemoryFile, EditAnswer>;

MemoryFile file_of(const MemoryVersion& block) {
    return {cat(kRoot, "/", block.label), block.label, block.block_id, block.version};
}

Reply<MemoryVersion> answer_done(Reply<ToolResult> reply, Args args, std::string said) {
    return [reply = std::move(reply), args = std::move(args),
            said = std::move(said)](Result<MemoryVersion> done) mutable {
        const std::string path = args.new_path ? *args.new_path : *args.path;
        if (!done) return reply(refused_as_taken(done.error(), args, path));
        reply(result_of(file_of(*done), std::move(said)));
    };
}

// --- view ---

struct Directory {
    std::string path;
    std::string label;  // "" is the root.
    bool by_lines = false;
};

Failure no_such_path(const std::string& path) {
    return fail(Errc::not_found, "invalid_reference",
                cat("The path ", path, " does not exist. Please provide a valid path. View ", kRoot,
                    " to see those there are"),
                {{"path", path}});
}

// What is below a directory, which there is none of where nothing is, but for the root.
void view_directory(kernel::MemoryCalls& memory, const kernel::Caller& by, Directory directory,
                    Reply<ToolResult> reply) {
    const std::string prefix = directory.label.empty() ? "" : directory.label + "/";
    memory.list(
        by, {}, prefix,
        [directory = std::move(directory),
         reply = std::move(reply)](Result<kernel::MemoryList> list) mutable {
            if (!list) return reply(refused(list.error()));
            const auto& [path, label, by_lines] = directory;
            std::set<std::string> entries;
            for (const kernel::MemoryRow& row : list->blocks) {
                const bool shown = row.is_text && row.type != kernel::MemoryType::archival;
                if (shown) add_entry_below(entries, label, row.block.label);
            }
            if (entries.empty() && !label.empty())
                return reply(refused(no_such_path(path).value()));
            if (by_lines) {
                return reply(refused(invalid("invalid_range",
                                             "The `view_range` parameter is not allowed when "
                                             "`path` points to a directory")
                                         .value()));
            }
            reply(result_of(render_directory(path, cat(kRoot, "/"), entries, false)));
        });
}

void view(kernel::MemoryCalls& memory, const kernel::Caller& by, const Args& args,
          Reply<ToolResult> reply) {
    const Result<std::string> label = label_of(*args.path);
    if (!label) return reply(refused(label.error()));
    Directory directory{*args.path, *label, args.view_range.has_value()};
    if (label->empty() || args.path->ends_with('/'))
        return view_directory(memory, by, std::move(directory), std::move(reply));
    std::optional<text::LineRange> range;
    if (args.view_range) {
        const Result<text::LineRange> lines = lines_of(*args.view_range);
        if (!lines) return reply(refused(lines.error()));
        range = *lines;
    }
    memory.read_text(
        by, kernel::TextLabel{*label}, range,
        [&memory, by, directory = std::move(directory), first = range ? range->begin.n + 1 : 0,
         ask = ask_of(args), reply = std::move(reply)](Result<kernel::MemoryText> read) mutable {
            const Error* const error = read ? nullptr : &read.error();
            if (error != nullptr && error->reason() == "invalid_reference")
                return view_directory(memory, by, std::move(directory), std::move(reply));
            const auto past = first == 0 ? std::optional<Error>()
                                         : past_the_end(first, error, read ? read->line_count : 0);
            if (past) return reply(refused(*past));
            if (!read) return reply(refused_as_known(*error, ask));
            auto [lines, text] =
                render_lines(cat("Here's the content of ", ask.path, " with line numbers:\n"),
                             read->view, read->line_count);
            reply(result_of(View{file_of(read->block), std::move(lines)}, std::move(text)));
        });
}

// --- create, str_replace, insert, delete, rename ---

void create(kernel::MemoryCalls& memory, const kernel::Caller& by, Args args,
            Reply<ToolResult> reply) {
    Result<std::string> label = memory_of(*args.path);
    if (!label) return reply(refused(label.error()));
    kernel::MemoryCreate what;
    what.label = std::move(*label);
    what.schema = Value("Text");
    what.content = std::move(*args.file_text);
    std::string said = cat("File created successfully at: ", *args.path, "\n");
    memory.create(by, std::move(what),
                  answer_done(std::move(reply), std::move(args), std::move(said)));
}

ToolResult render_edited_memory(const kernel::MemoryEdited& made, const Args& args) {
    const std::string heading = args.command == MemoryCommand::insert
                                    ? cat("The file ", *args.path, " has been edited.")
                                    : std::string("The memory file has been edited.");
    std::string text =
        edited_text(cat(heading, " Here's the result of running `cat -n` on a snippet of it:\n"),
                    made.edited, kMemory, *args.path);
    return result_of(
        EditedMemory{file_of(made.block), render_edited(made.edited, Profile::compat).answer},
        cat(text, note_lines(made.edited.notes)));
}

void edit(kernel::MemoryCalls& memory, const kernel::Caller& by, const Args& args, edits::Plan plan,
          Reply<ToolResult> reply) {
    Result<std::string> label = memory_of(*args.path);
    if (!label) return reply(refused(label.error()));
    memory.edit_text(by, kernel::TextLabel{std::move(*label)},
                     std::string(json::Words<MemoryCommand>::word(args.command)), std::move(plan),
                     [args, reply = std::move(reply)](Result<kernel::MemoryEdited> made) mutable {
                         reply(made ? render_edited_memory(*made, args)
                                    : refused_as_known(made.error(), ask_of(args)));
                     });
}

// A directory is not deleted or renamed at once: half of it could be refused.
struct Several {
    std::string_view what;  // "deleted"
    std::string path;
    std::string label;
};
void refuse_directory(kernel::MemoryCalls& memory, const kernel::Caller& by, Several asked,
                      ToolResult otherwise, Reply<ToolResult> reply) {
    memory.list(by, {}, asked.label + "/",
                [asked, otherwise = std::move(otherwise),
                 reply = std::move(reply)](const Result<kernel::MemoryList>& list) mutable {
                    if (!list || list->blocks.empty()) return reply(std::move(otherwise));
                    reply(refused(fail(Errc::invalid_argument, "is_directory",
                                       cat(asked.path, " is a directory with ", list->blocks.size(),
                                           list->blocks.size() == 1 ? " memory" : " memories",
                                           " in it, which are ", asked.what,
                                           " one by one; view it to see them"),
                                       {{"path", asked.path}})
                                      .value()));
                });
}

void remove(kernel::MemoryCalls& memory, const kernel::Caller& by, const Args& args,
            Reply<ToolResult> reply) {
    const Result<std::string> label = memory_of(*args.path);
    if (!label) return reply(refused(label.error()));
    memory.erase(
        by, kernel::TextLabel{*label},
        [&memory, by, args, label = *label,
         reply = std::move(reply)](Result<MemoryVersion> done) mutable {
            if (!done && done.error().reason() == "invalid_reference") {
                return refuse_directory(memory, by, {"deleted", *args.path, label},
                                        refused_as_known(done.error(), ask_of(args)),
                                        std::move(reply));
            }
            if (!done) return reply(refused_as_known(done.error(), ask_of(args)));
            reply(result_of(file_of(*done), cat("Successfully deleted ", *args.path, "\n")));
        });
}

void rename(kernel::MemoryCalls& memory, const kernel::Caller& by, const Args& args,
            Reply<ToolResult> reply) {
    const Result<std::string> from = memory_of(*args.old_path);
    const Result<std::string> to = memory_of(*args.new_path);
    if (!from || !to) return reply(refused(from ? to.error() : from.error()));
    memory.rename(by, kernel::TextLabel{*from}, *to,
                  [&memory, by, args, from = *from,
                   reply = std::move(reply)](Result<MemoryVersion> done) mutable {
                      if (!done && done.error().reason() == "invalid_reference") {
                          return refuse_directory(memory, by, {"renamed", *args.old_path, from},
                                                  refused_as_known(done.error(), ask_of(args)),
                                                  std::move(reply));
                      }
                      std::string said = cat("Successfully renamed ", *args.old_path, " to ",
                                             *args.new_path, "\n");
                      answer_done(std::move(reply), args, std::move(said))(std::move(done));
                  });
}

void run(kernel::Kernel& kernel, kernel::MemoryCalls& memory, const kernel::Caller& by, Args args,
         Reply<ToolResult> reply) {
    switch (args.command) {
        case MemoryCommand::view:
            return view(memory, by, args, std::move(reply));
        case MemoryCommand::create:
            return create(memory, by, std::move(args), std::move(reply));
        case MemoryCommand::str_replace:
            return edit(memory, by, args,
                        replacement(ask_of(args), args.new_str.value_or(""), kernel, kMemory),
                        std::move(reply));
        case MemoryCommand::insert:
            return edit(memory, by, args, insertion(ask_of(args), *args.insert_text, kernel),
                        std::move(reply));
        case MemoryCommand::erase:
            return remove(memory, by, args, std::move(reply));
        case MemoryCommand::rename:
            return rename(memory, by, args, std::move(reply));
    }
}

}  // namespace

std::unique_ptr<const Tool> make_memory(kernel::Kernel& kernel, kernel::MemoryCalls& memory) {
    Fields<Args> fields;
    fields.required("command", &Args::command).optional("path", &Args::path, "Below /memories.");
    add_editor_fields(fields);
    fields.optional("old_path", &Args::old_path).optional("new_path", &Args::new_path);
    return make_tool<Args>(
        {.name = "memory",
         .title = "View and edit memory files",
         .description =
             "Text memories as files below /memories, kept between sessions. The tool context has "
             "the same memories, with their history and undo.",
         .annotations = {.destructive = true},
         .answer =
             one_of({json::Codec<MemoryFile>::schema(), json::Codec<View>::schema(),
                     json::Codec<EditedMemory>::schema(), json::Codec<ShownDirectory>::schema()}),
         .operations = operations()},
        std::move(fields),
        [&kernel, &memory](const Session& session, Args args, Reply<ToolResult> reply) {
            run(kernel, memory, session.caller, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
