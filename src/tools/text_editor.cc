// str_replace_based_edit_tool: viewing and editing files by the commands, the argument names and
// the answers that models have learnt. What it changes is on the disk at once: that is what they
// know.
#include <array>
#include <set>
#include <utility>

#include "base/concat.h"
#include "tools/editor_words.h"
#include "tools/file_fields.h"
#include "tools/files.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

enum class EditorCommand { view, create, str_replace, insert };

}  // namespace quire::tools

namespace quire::json {

template <>
struct Words<tools::EditorCommand> {
    static constexpr std::array<std::string_view, 4> words = {"view", "create", "str_replace",
                                                              "insert"};
    static constexpr std::size_t count = words.size();
    static std::string_view word(tools::EditorCommand command) {
        return words[static_cast<std::size_t>(command)];
    }
};

}  // namespace quire::json

namespace quire::tools {
namespace {

using kernel::FileVersion;

constexpr std::size_t kListedFiles = 100'000;

struct Args : EditorText {
    EditorCommand command = EditorCommand::view;
    std::string path;
};

Operations operations() {
    Operations out{"command", editor_operations()};
    // An earlier form of the tool called the text of an insert so.
    out.all.back().earlier = {{"new_str", "insert_text"}};
    return out;
}

// --- refusals, in the words that models know ---

constexpr EditorNouns kFile{"the file", "View the file"};

EditorAsk ask_of(const Args& args) {
    return args.ask_of(args.path);
}

ToolResult refused_as_known(const Error& error, const EditorAsk& ask) {
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

using View = About<FileVersion, ShownLines>;

ToolResult render_view(const kernel::FileRead& read, const std::string& path) {
    const kernel::BlockText& block = read.text;
    auto [lines, text] = render_lines(
        cat("Here's the result of running `cat -n` on ", path, ":\n"),
        {block.lines, {block.first_line}, block.truncated, block.notes}, block.info.line_count);
    return result_of(View{read.file, std::move(lines)}, std::move(text));
}

ToolResult render_files(const std::string& path, const std::string& directory,
                        const kernel::FileList& list) {
    std::set<std::string> entries;
    for (const kernel::FileEntry& file : list.files) add_entry_below(entries, directory, file.path);
    return result_of(render_directory(path, "", entries, list.truncated));
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
                            return render_files(path, directory, list);
                        }));
            }
            const auto past =
                first == 0 ? std::optional<Error>()
                           : past_the_end(first, error, read ? read->text.info.line_count : 0);
            if (past) return reply(refused(*past));
            if (!read) return reply(refused_as_known(*error, ask_of(args)));
            reply(render_view(*read, args.path));
        });
}

// --- create, str_replace, insert ---

struct Created {
    FileVersion file;
    bool saved = true;
    static Fields<Created> fields() {
        return Fields<Created>()
            .members(json::Codec<FileVersion>::fields(), &Created::file)
            .required("saved", &Created::saved);
    }
};
struct EditedFile {
    FileVersion file;
    EditAnswer edited;
    bool saved = false;
    static Fields<EditedFile> fields() {
        return Fields<EditedFile>()
            .members(json::Codec<FileVersion>::fields(), &EditedFile::file)
            .members(json::Codec<EditAnswer>::fields(), &EditedFile::edited)
            .required("saved", &EditedFile::saved);
    }
};

ToolResult render_edited_file(const kernel::FileEdited& edited, const std::string& path,
                              const Result<kernel::FileSaved>& saved) {
    EditedFile out{edited.file, render_edited(edited.edited, Profile::compat).answer,
                   saved.has_value()};
    if (!saved) {
        out.edited.notes.push_back(
            cat("the edit is in the workspace and not on the disk: ", saved.error().message()));
    }
    const std::string heading = cat(
        "The file ", path,
        " has been edited. Here's the result of running `cat -n` on a snippet of ", path, ":\n");
    return result_of(
        out, cat(edited_text(heading, edited.edited, kFile, path), note_lines(out.edited.notes)));
}

void edit(kernel::FileCalls& files, const kernel::Caller& by, const Args& args, edits::Plan plan,
          Reply<ToolResult> reply) {
    const std::string path = args.path;
    files.edit(
        by, path, std::string(json::Words<EditorCommand>::word(args.command)), std::move(plan),
        [&files, by, path, ask = ask_of(args),
         reply = std::move(reply)](Result<kernel::FileEdited> edited) mutable {
            if (!edited) return reply(refused_as_known(edited.error(), ask));
            files.save(by, path,
                       [path, edited = std::move(*edited),
                        reply = std::move(reply)](const Result<kernel::FileSaved>& saved) mutable {
                           reply(render_edited_file(edited, path, saved));
                       });
        });
}

void run(kernel::Kernel& kernel, kernel::FileCalls& files, const kernel::Caller& by, Args args,
         Reply<ToolResult> reply) {
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
                    if (!made) return reply(refused_as_known(made.error(), ask_of(args)));
                    reply(result_of(Created{*made},
                                    cat("File created successfully at: ", args.path, "\n")));
                });
        }
        case EditorCommand::str_replace: {
            edits::Plan plan = replacement(ask_of(args), args.new_str.value_or(""), kernel, kFile);
            return edit(files, by, args, std::move(plan), std::move(reply));
        }
        case EditorCommand::insert: {
            edits::Plan plan = insertion(ask_of(args), std::move(*args.insert_text), kernel);
            return edit(files, by, args, std::move(plan), std::move(reply));
        }
    }
}

}  // namespace

std::unique_ptr<const Tool> make_text_editor(kernel::Kernel& kernel, kernel::FileCalls& files) {
    Fields<Args> fields;
    fields.required("command", &Args::command).required("path", &Args::path);
    add_editor_fields(fields);
    return make_tool<Args>(
        {.name = "str_replace_based_edit_tool",
         .title = "View and edit files",
         .description =
             "Text files, by their path from the workspace's root. Edits are on the disk when they "
             "are answered.",
         .annotations = {.destructive = true},
         .answer = one_of({json::Codec<View>::schema(), json::Codec<ShownDirectory>::schema(),
                           json::Codec<Created>::schema(), json::Codec<EditedFile>::schema()}),
         .operations = operations()},
        std::move(fields),
        [&kernel, &files](const Session& session, Args args, Reply<ToolResult> reply) {
            run(kernel, files, session.caller, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
