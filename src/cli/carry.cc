// quire export and quire import: an agent's memory as one file, with its history, and back.
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "base/cat.h"
#include "base/clock.h"
#include "cli/command_client.h"
#include "cli/commands.h"
#include "cli/foreign_memory.h"
#include "cli/memory_file.h"
#include "cli/person.h"
#include "cli/terminal.h"
#include "cli/whole_file.h"
#include "json/json.h"
#include "kernel/carried.h"
#include "policy/actor.h"
#include "schema/timestamp.h"

namespace quire::cli {
namespace {

std::string text_of(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

List list_of(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_list() ? value->as_list() : List();
}

std::string counted(std::size_t blocks) {
    return cat(blocks, blocks == 1 ? " block" : " blocks");
}

// --- export ---

struct Exported {
    MemoryFile file;
    List unreadable;
};

Result<Exported> gather(const Globals& globals, const std::string& agent) {
    Exported out{{cat("agent:", agent),
                  schema::format_timestamp(SystemClock().wall_ms()),
                  globals.version,
                  {}},
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
        out.file.blocks.push_back(*block);
    }
    out.unreadable = list_of(owned, "unreadable");
    if (out.file.blocks.empty()) {
        return fail(Errc::not_found, "no_memory",
                    cat(out.file.owner,
                        " owns no memory here; quire call context "
                        "'{\"operation\":\"list\"}' shows the blocks there are"));
    }
    return out;
}

// --- import ---

struct Arrived {
    std::string from;
    std::string label;
    std::string block_id;
    Value version;
    std::string digest;
};

Result<List> blocks_of(const std::string& text, const std::optional<policy::Actor>& owner) {
    if (is_memory_file(text)) {
        MemoryFile file = TRY(read_memory_file(text));
        return std::move(file.blocks);
    }
    const std::vector<kernel::CarriedBlock> foreign = TRY(read_foreign_memory(text, owner));
    List out;
    for (const kernel::CarriedBlock& each : foreign) out.push_back(kernel::to_value(each));
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
        const List blocks = TRY(blocks_of(text, owner));
        CommandClient client = TRY(CommandClient::attach(globals_));
        for (const Value& each : blocks) TRY(client.request("stage", Map{{"block", each}}));
        const Value answer = TRY(client.request("import", Map{{"owner", owner ? owner->str() : ""},
                                                              {"suffix", options_.rename},
                                                              {"dry_run", options_.dry_run}}));
        const List made = list_of(answer, "blocks");
        if (made.size() != blocks.size()) return corrupt("not every block was answered for");
        for (std::size_t i = 0; i < made.size(); ++i) {
            arrived_.push_back({text_of(made[i], "from"), text_of(made[i], "label"),
                                text_of(made[i], "block_id"), *made[i].get("version"),
                                text_of(blocks[i], "content_sha256")});
        }
        return options_.dry_run ? Result<void>() : look_again(client);
    }

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
    const std::size_t count = made->file.blocks.size();
    const std::string said =
        globals.json
            ? json::write(Map{{"file", options.file}, {"blocks", count}, {"bytes", text.size()}})
            : cat("Wrote ", counted(count), " of ", made->file.owner, " with their history to ",
                  options.file, " (", size_text(text.size()), ").");
    return print(said + "\n") && made->unreadable.empty() ? kDone : kRefused;
}

int import_memory(const Globals& globals, const ImportOptions& options) {
    const Result<Globals> person = acting_as_person(globals, options.actor_named);
    if (!person) {
        refuse(person.error());
        return kUsage;
    }
    Importing importing(*person, options);
    if (const auto done = importing.run(); !done) {
        const int code = refuse(done.error());
        if (done.error().reason() == "label_exists" && options.rename.empty())
            complain("with --rename SUFFIX those get SUFFIX behind their labels");
        return code;
    }
    return importing.report();
}

}  // namespace quire::cli
