#include <filesystem>
#include <system_error>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "json/json.h"

namespace quire::cli {
namespace {

std::uint64_t store_bytes(const std::filesystem::path& state) {
    std::uint64_t bytes = 0;
    for (const char* name : {"quire.db", "quire.db-wal"}) {
        std::error_code missing;
        const auto size = std::filesystem::file_size(state / name, missing);
        if (!missing) bytes += size;
    }
    return bytes;
}

std::int64_t number(const Map& fields, std::string_view name) {
    const Value* value = fields.find(name);
    return value != nullptr && value->is_int() ? value->as_int() : 0;
}

std::string sentence(const Map& fields) {
    const std::string store =
        cat("Store: ", size_text(static_cast<std::uint64_t>(number(fields, "store_bytes"))), " in ",
            fields.find("workspace")->as_string(), "/.quire\n");
    if (*fields.find("running") != Value(true)) {
        return cat("No kernel runs here; the next command that needs one starts it.\n", store);
    }
    return cat("A kernel runs: process ", number(fields, "pid"), ", version ",
               fields.find("version")->as_string(), "\nSessions: ", number(fields, "sessions"),
               "\nDocuments: ", number(fields, "documents"), ", ", number(fields, "live_documents"),
               " of them in memory\nSince it started: ", number(fields, "calls"), " calls, ",
               number(fields, "commits"), " commits\n", store);
}

}  // namespace

int status(const Globals& globals) {
    std::error_code missing;
    const auto workspace = std::filesystem::canonical(globals.workspace, missing);
    if (missing) {
        complain(cat("there is no directory ", globals.workspace));
        return kRefused;
    }
    Map fields{{"workspace", workspace.string()}, {"running", false}};
    // Asking must not make anything: neither a kernel nor the directory for its state.
    if (std::filesystem::exists(workspace / ".quire", missing)) {
        auto client = CommandClient::attach(globals, false);
        if (!client && client.error().reason() != "no_kernel") return refuse(client.error());
        if (client) {
            auto answer = client->request("status", {});
            if (!answer) return refuse(answer.error());
            fields.set("running", true);
            fields.set("pid", client->kernel_pid());
            for (Map::Entry& entry : answer->as_map())
                fields.set(entry.key, std::move(entry.value));
            // This command's own session is none that anyone works in.
            fields.set("sessions", number(fields, "sessions") - 1);
        }
    }
    fields.set("store_bytes", store_bytes(workspace / ".quire"));
    return print(globals.json ? json::write(fields) + "\n" : sentence(fields)) ? kDone : kRefused;
}

}  // namespace quire::cli
