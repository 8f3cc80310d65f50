// quire export and quire import: an agent's memory as one file, with its history, and back.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/acting.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/foreign_memory.h"
#include "cli/exchange/members.h"
#include "cli/exchange/memory_file.h"
#include "json/json.h"
#include "kernel/carried.h"
#include "memory/timestamp.h"
#include "policy/actor.h"

namespace quire::cli {
namespace {

std::string counted(std::size_t blocks) {
    return cat(blocks, blocks == 1 ? " block" : " blocks");
}

// --- export ---

struct Exported {
    MemoryFile file;
    List unreadable;
    std::vector<std::string> too_long;  // Labels of what is not in the file.
};

// An import would not take it, and a file that nobody can read again is no copy.
std::string why_left_out(const Globals& globals, const std::string& label) {
    const Map view{{"operation", "view"}, {"label", label}};
    return cat("the file is without '", label, "', which is too long to be exported: with all its ",
               "history it is more than the 63 MiB that an import takes at once. Its content ",
               "without the history is given by: quire call context", same_options(globals), " ",
               for_shell(json::write(view)),
               "; a copy of the folder .quire, made while nothing runs there, has all of it");
}

Result<Exported> gather(const Globals& globals, const std::string& agent) {
    Exported out{{cat("agent:", agent),
                  memory::format_timestamp(SystemClock().wall_ms()),
                  globals.version,
                  {}},
                 {},
                 {}};
    CommandClient client = TRY(CommandClient::attach(globals));
    const Value owned = TRY(client.request("owned", Map{{"owner", out.file.owner}}));
    for (const Value& label : list_of(owned, "labels")) {
        auto answer = client.request("export", Map{{"label", label}});
        if (!answer && answer.error().code() == Errc::not_found)
            continue;  // It has gone meanwhile.
        if (!answer) return Failure(std::move(answer).error());
        const Value* block = answer->get("block");
        if (block == nullptr) return corrupt("a block came without its content");
        if (json::write(*block).size() > kMostInRequest) {
            out.too_long.push_back(text_of(*block, "label"));
        } else {
            out.file.blocks.push_back(*block);
        }
    }
    out.unreadable = list_of(owned, "unreadable");
    if (!out.file.blocks.empty() || !out.too_long.empty()) return out;
    return fail(Errc::not_found, "no_memory",
                cat(out.file.owner,
                    " owns no memory here; quire call context "
                    "'{\"operation\":\"list\"}' shows the blocks there are"));
}

// --- import ---

struct Arrived {
    std::string from;
    std::string label;
    std::string block_id;
    Value version;
    std::string digest;
};

struct Source {
    List blocks;
    bool is_ours = false;  // Each block is a line.
};

Result<Source> source_of(std::string_view text, const std::optional<policy::Actor>& owner) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    Source out{{}, is_memory_file(text)};
    if (out.is_ours) {
        out.blocks = TRY(read_memory_file(text)).blocks;
        return out;
    }
    const std::vector<kernel::CarriedBlock> foreign = TRY(read_foreign_memory(text, owner));
    for (const kernel::CarriedBlock& each : foreign) out.blocks.push_back(kernel::to_value(each));
    return out;
}

class Importing {
public:
    Importing(const Globals& globals, const ImportOptions& options)
        : globals_(globals), options_(options) {}

    Result<void> run() {
        std::optional<policy::Actor> owner;
        if (!options_.agent.empty())
            owner = policy::Actor{policy::ActorKind::agent, options_.agent};
        const std::string text = TRY(read_file(options_.file));
        const Source source = TRY(source_of(text, owner));
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
            may_be_done_ = answer.error().reason() == "fate_unknown";
            const Value* at = answer.error().details().find("block");
            const std::size_t index = at != nullptr && at->is_int()
                                          ? static_cast<std::size_t>(at->as_int())
                                          : blocks.size();
            if (index >= blocks.size()) return Failure(std::move(answer).error());
            return in_block(source, index, std::move(answer).error());
        }
        may_be_done_ = true;
        const List made = list_of(*answer, "blocks");
        if (made.size() != blocks.size()) return corrupt("not every block was answered for");
        for (std::size_t i = 0; i < made.size(); ++i) {
            arrived_.push_back({text_of(made[i], "from"), text_of(made[i], "label"),
                                text_of(made[i], "block_id"), *made[i].get("version"),
                                text_of(blocks[i], "content_sha256")});
        }
        return options_.dry_run ? Result<void>() : look_again(client);
    }

    // Whether a failure may have come after the import.
    bool may_be_done() const { return may_be_done_ && !options_.dry_run; }

    int report() const {
        if (globals_.json) return report_json();
        if (arrived_.empty()) {
            complain("the file holds no memory; nothing was imported");
            return kDone;
        }
        std::string text =
            cat(options_.dry_run ? "Would import " : "Imported ", counted(arrived_.size()), ":\n");
        for (const Arrived& each : arrived_) {
            text += cat("  ", each.label,
                        each.from == each.label ? "" : cat(" (was ", each.from, ")"), "\n");
        }
        if (!options_.dry_run)
            text += "Each was read again and says what the file says, by SHA-256.\n";
        return print(text) ? kDone : kRefused;
    }

private:
    static Failure in_block(const Source& source, std::size_t index, Error error) {
        const std::string label = text_of(source.blocks[index], "label");
        if (error.reason() == "too_large" && error.code() == Errc::unsupported) {
            return fail(error.code(), error.reason(),
                        cat("the block '", label, "' is too long to be imported: it would be more ",
                            "than the 64 MiB that the kernel takes at once. The file without it ",
                            "can be imported"),
                        {{"label", label}});
        }
        if (!source.is_ours) return Failure(std::move(error));
        const std::size_t line = line_of_block(index);
        error.details().set("line", line);
        return Failure(std::move(error).within(cat("line ", line)));
    }

    // Each block as the workspace now has it says what the file says.
    Result<void> look_again(CommandClient& client) {
        for (const Arrived& each : arrived_) {
            const Value answer = TRY(client.request("export", Map{{"label", each.block_id}}));
            const Value* block = answer.get("block");
            if (block != nullptr && text_of(*block, "content_sha256") == each.digest) continue;
            return fail(Errc::conflict, "content_differs",
                        cat("'", each.label, "' was imported, and does not read as in the file: ",
                            "somebody has changed it since, or it is damaged"));
        }
        return {};
    }

    int report_json() const {
        List blocks;
        for (const Arrived& each : arrived_) {
            blocks.push_back(Map{{"from", each.from},
                                 {"label", each.label},
                                 {"block_id", each.block_id},
                                 {"version", each.version},
                                 {"content_sha256", each.digest}});
        }
        const Map out{{"blocks", std::move(blocks)}, {"dry_run", options_.dry_run}};
        return print(json::write(out) + "\n") ? kDone : kRefused;
    }

    const Globals& globals_;
    const ImportOptions& options_;
    std::vector<Arrived> arrived_;
    bool may_be_done_ = false;
};

}  // namespace

int export_memory(const Globals& globals, const ExportOptions& options) {
    const Result<Globals> person = acting_as_person(globals, options.actor_named);
    if (!person) {
        refuse(person.error());
        return kUsage;
    }
    struct stat present = {};
    if (!options.force && ::stat(options.file.c_str(), &present) == 0) {
        complain(cat(options.file, " is there already; name another file, or give --force"));
        return kRefused;
    }
    const Result<Exported> made = gather(*person, options.agent);
    if (!made) return refuse(made.error());
    const std::string text = write_memory_file(made->file);
    if (const auto written = keep_file(options.file, text); !written)
        return refuse(written.error());
    for (const Value& each : made->unreadable) {
        if (!each.is_string()) continue;
        complain(cat("'", each.as_string(), "' is not in it, whosever it is: it cannot be read"));
    }
    for (const std::string& label : made->too_long) complain(why_left_out(*person, label));
    const std::size_t count = made->file.blocks.size();
    const std::string said =
        globals.json
            ? json::write(Map{{"file", options.file}, {"blocks", count}, {"bytes", text.size()}})
            : cat("Wrote ", counted(count), " of ", made->file.owner, " with their history to ",
                  options.file, " (", size_text(text.size()), ").");
    const bool is_all = made->unreadable.empty() && made->too_long.empty();
    return print(said + "\n") && is_all ? kDone : kRefused;
}

int import_memory(const Globals& globals, const ImportOptions& options) {
    const Result<Globals> person = acting_as_person(globals, options.actor_named);
    if (!person) {
        refuse(person.error());
        complain("nothing was imported");
        return kUsage;
    }
    Importing importing(*person, options);
    if (const auto done = importing.run(); !done) {
        const int code = refuse(done.error());
        if (done.error().reason() == "label_exists" && options.rename.empty())
            complain("with --rename SUFFIX those get SUFFIX behind their labels");
        if (!importing.may_be_done()) complain("nothing was imported");
        return code;
    }
    return importing.report();
}

}  // namespace quire::cli
