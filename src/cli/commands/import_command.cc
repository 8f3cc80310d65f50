// quire import: memory from a file, whether quire or another program wrote it.
//
// The blocks are sent to the kernel one by one, because all of them may be longer than a request,
// and then imported together: all or none. Afterwards each is read back and compared.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/acting_person.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/foreign_memory.h"
#include "cli/exchange/memory_file.h"
#include "json/members.h"
#include "kernel/memory/carried.h"
#include "policy/actor.h"

namespace quire::cli {
namespace {

struct ImportOptions {
    std::string file;
    std::string agent;   // "" for the agents that the file names.
    std::string rename;  // Appended to labels that are already used; "" to refuse them.
    bool dry_run = false;
};

struct ImportedBlock {
    std::string from;
    std::string label;
    std::string block_id;
    Value version;
    std::string digest;
};

struct ImportSource {
    List blocks;
    bool is_ours = false;  // Written by quire export: each block is a line.
};

// The format is told by the first line and not by the file's name. Some editors put a byte order
// mark first.
Result<ImportSource> import_source(std::string_view text,
                                   const std::optional<policy::Actor>& owner) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    ImportSource out{{}, is_memory_file(text)};
    if (out.is_ours) {
        out.blocks = TRY(read_memory_file(text)).blocks;
        return out;
    }
    const std::vector<kernel::CarriedBlock> foreign = TRY(read_foreign_memory(text, owner));
    for (const kernel::CarriedBlock& each : foreign) out.blocks.push_back(kernel::to_value(each));
    return out;
}

//     stage each block -> import all at once -> read each back and compare
//
// Staged blocks belong to this client's session and are dropped with it, so a command that is
// killed leaves nothing.
class Importing {
public:
    Importing(const Globals& globals, const ImportOptions& options)
        : globals_(globals), options_(options) {}

    Result<void> run() {
        std::optional<policy::Actor> owner;
        if (!options_.agent.empty())
            owner = policy::Actor{policy::ActorKind::agent, options_.agent};
        const std::string text = TRY(read_file(options_.file));
        const ImportSource source = TRY(import_source(text, owner));
        const List& blocks = source.blocks;
        CommandClient client = TRY(CommandClient::attach(globals_));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            auto staged = client.request("stage", Map{{"block", blocks[i]}});
            if (!staged) return in_block(source, i, std::move(staged).error());
        }
        auto answer = client.request("import", Map{{"owner", owner ? owner->str() : ""},
                                                   {"suffix", options_.rename},
                                                   {"dry_run", options_.dry_run}});
        if (!answer) {
            // The connection broke while the kernel was at it.
            may_be_done_ = answer.error().reason() == "fate_unknown";
            const Value* at = answer.error().details().find("block");
            const std::size_t index = at != nullptr && at->is_int()
                                          ? static_cast<std::size_t>(at->as_int())
                                          : blocks.size();
            if (index >= blocks.size()) return Failure(std::move(answer).error());
            return in_block(source, index, std::move(answer).error());
        }
        may_be_done_ = true;
        const List made = json::list_in(*answer, "blocks");
        if (made.size() != blocks.size())
            // From here on the import has happened: an error below must not say that nothing was
            // imported.
            return corrupt("the kernel did not answer for every block");
        for (std::size_t i = 0; i < made.size(); ++i) {
            imported_.push_back({json::text_in(made[i], "from"), json::text_in(made[i], "label"),
                                 json::text_in(made[i], "block_id"), *made[i].get("version"),
                                 json::text_in(blocks[i], "content_sha256")});
        }
        return options_.dry_run ? Result<void>() : verify(client);
    }

    // Returns true if the import may have happened before a failure.
    bool may_be_done() const { return may_be_done_ && !options_.dry_run; }

    int report() const {
        if (globals_.json) return report_json();
        if (imported_.empty()) {
            complain("the file holds no memory; nothing was imported");
            return kDone;
        }
        std::string text = cat(options_.dry_run ? "Would import " : "Imported ",
                               plural(imported_.size(), "block"), ":\n");
        for (const ImportedBlock& each : imported_) {
            text += cat("  ", each.label,
                        each.from == each.label ? "" : cat(" (was ", each.from, ")"), "\n");
        }
        if (!options_.dry_run) text += "Each was read back and equals the file, by SHA-256.\n";
        return output(text);
    }

private:
    // Only a file of our own has a line for each block.
    static Failure in_block(const ImportSource& source, std::size_t index, Error error) {
        const std::string label = json::text_in(source.blocks[index], "label");
        if (error.reason() == "too_large" && error.code() == Errc::unsupported) {
            return fail(error.code(), error.reason(),
                        cat("the block '", label, "' is too long to be imported: it would take ",
                            "more than the kernel accepts at once (message_bytes in [limits] of "
                            "quire.toml). Import the ",
                            "file without it"),
                        {{"label", label}});
        }
        if (!source.is_ours) return Failure(std::move(error));
        const std::size_t line = line_of_block(index);
        error.details().set("line", line);
        return Failure(std::move(error).within(cat("line ", line)));
    }

    // Reads each block back and compares it with the file.
    Result<void> verify(CommandClient& client) {
        for (const ImportedBlock& each : imported_) {
            const Value answer = TRY(client.request("export", Map{{"label", each.block_id}}));
            const Value* block = answer.get("block");
            if (block != nullptr && json::text_in(*block, "content_sha256") == each.digest)
                continue;
            return fail(Errc::conflict, "content_differs",
                        cat("'", each.label, "' was imported, but now differs from the file: ",
                            "somebody has changed it since, or it is damaged"));
        }
        return {};
    }

    int report_json() const {
        List blocks;
        for (const ImportedBlock& each : imported_) {
            blocks.push_back(Map{{"from", each.from},
                                 {"label", each.label},
                                 {"block_id", each.block_id},
                                 {"version", each.version},
                                 {"content_sha256", each.digest}});
        }
        const Map out{{"blocks", std::move(blocks)}, {"dry_run", options_.dry_run}};
        return output_json(out);
    }

    const Globals& globals_;
    const ImportOptions& options_;
    std::vector<ImportedBlock> imported_;
    bool may_be_done_ = false;
};

Error not_imported(const Error& why, std::string_view hint) {
    return {why.code(), why.reason(), cat(why.message(), hint, "\nnothing was imported"),
            why.details()};
}

Result<int> run_import(const Globals& globals, const ImportOptions& options) {
    if (const auto person = check_is_person(globals); !person) {
        refuse(globals, not_imported(person.error(), ""));
        return kUsage;
    }
    Importing importing(globals, options);
    const auto done = importing.run();
    if (done) return importing.report();
    const std::string_view reason = done.error().reason();
    const bool renamed =
        (reason == "label_exists" || reason == "invalid_label") && options.rename.empty();
    const std::string hint =
        renamed ? "\nwith --rename SUFFIX these labels get SUFFIX appended" : "";
    if (!importing.may_be_done()) return Failure(not_imported(done.error(), hint));
    return Failure(done.error());
}

void add_import_options(CLI::App& app, ImportOptions& options) {
    app.add_option("file", options.file, "The file; its format is detected")
        ->required()
        ->type_name("FILE");
    app.add_option("--agent", options.agent,
                   "The agent that will own the memory; without it, the agents that the file names")
        ->type_name("AGENT")
        ->check(check_agent);
    app.add_option("--rename", options.rename,
                   "Suffix for labels that are already used here; without it a clash imports "
                   "nothing")
        ->type_name("SUFFIX");
    app.add_flag("--dry-run", options.dry_run, "Check everything, and write nothing");
}

}  // namespace

Command import_command() {
    return {.name = "import",
            .about =
                "Import memory from a file: an export of quire, the JSON lines of the MCP "
                "memory server, or an agent file of Letta (.af)",
            .example = "quire import ada.memory --agent ada --dry-run",
            .action = action_with(add_import_options, run_import)};
}

}  // namespace quire::cli
