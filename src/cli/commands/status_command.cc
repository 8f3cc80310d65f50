// quire status: says if a kernel runs here, and what it holds. It never starts one.
//
// Half of the answer comes from the kernel and half from the disk. Without a kernel the settings
// are read as the next one would read them, so faults in quire.toml are told before it fails to
// start.
#include <filesystem>
#include <string>
#include <system_error>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/compose/store_losses.h"
#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

std::uint64_t store_size(const std::filesystem::path& state) {
    std::uint64_t bytes = 0;
    for (const char* name : {"quire.db", "quire.db-wal"}) {
        std::error_code missing;
        const auto size = std::filesystem::file_size(state / name, missing);
        if (!missing) bytes += size;
    }
    return bytes;
}

// The losses of the store, which count whether or not a kernel runs.
List lost_commits_of(const std::string& workspace) {
    List rows;
    for (const auto& lost : store_losses(workspace)) {
        rows.push_back(Map{{"first", lost.first},
                           {"last", lost.last},
                           {"count", lost.count()},
                           {"directory", lost.directory},
                           {"message", loss_message(lost)}});
    }
    return rows;
}

std::int64_t status_number(const Map& fields, std::string_view name) {
    const Value* value = fields.find(name);
    return value != nullptr && value->is_int() ? value->as_int() : 0;
}

// The files with edits that are not on the disk, by path.
std::string unsaved_text(const Map& fields) {
    const Value* const unsaved = fields.find("unsaved");
    if (unsaved == nullptr || unsaved->as_list().empty()) return {};
    std::string out = "Not saved:\n";
    for (const Value& file : unsaved->as_list()) {
        out +=
            cat("  ", text::escape_hidden(json::text_in(file, "path")), " (",
                json::text_in(file, "block_id"), ")",
                *file.get("conflict") == Value(true) ? ", and the disk changed the same words" : "",
                "\n");
    }
    return out;
}

// The facts about the settings that an operator needs, a line each.
std::string settings_text(const Map& fields) {
    const Value* const settings = fields.find("settings");
    if (settings == nullptr) return "";
    std::string out;
    if (const Value* error = settings->get("error")) {
        cat_to(out, cat("Settings: ", error->as_string(), ". ",
                        *fields.find("running") == Value(true)
                            ? "The kernel goes on with the settings before"
                            : "No kernel starts before that is right",
                        "\n"));
    }
    std::string sections;
    for (const Value& section : json::list_in(*settings, "needs_new_kernel"))
        cat_to(sections, cat(sections.empty() ? "" : ", ", section.as_string()));
    if (!sections.empty()) {
        cat_to(out, cat("Settings: what has changed in ", sections,
                        " holds from the next kernel on; quire stop ends this one\n"));
    }
    for (const Value& warning : json::list_in(*settings, "warnings"))
        cat_to(out, cat("Settings: ", warning.as_string(), "\n"));
    return out;
}

std::string watch_text(const Map& fields) {
    const Value* const watch = fields.find("watch");
    if (watch == nullptr) return "";
    return cat("The disk: ", text::escape_hidden(json::text_in(*watch, "says")), "\n");
}

std::string status_text(const Map& fields) {
    std::string losses;
    for (const Value& lost : fields.find("lost_commits")->as_list())
        losses += cat("Damage: ", lost.get("message")->as_string(), ".\n");
    const std::string store =
        cat("Store: ", size_text(static_cast<std::uint64_t>(status_number(fields, "store_bytes"))),
            " in ", fields.find("workspace")->as_string(), "/.quire\n", losses);
    if (*fields.find("running") != Value(true)) {
        return cat("No kernel runs here; the next command that needs one will start it.\n", store,
                   settings_text(fields));
    }
    return cat("A kernel runs: process ", status_number(fields, "pid"), ", version ",
               fields.find("version")->as_string(),
               "\nSessions: ", status_number(fields, "sessions"),
               "\nDocuments: ", status_number(fields, "documents"), ", ",
               status_number(fields, "live_documents"), " of them in memory (",
               size_text(static_cast<std::uint64_t>(status_number(fields, "resident_bytes"))),
               ")\nSince it started: ", status_number(fields, "calls"), " calls, ",
               status_number(fields, "commits"), " commits\n", watch_text(fields),
               unsaved_text(fields), store, settings_text(fields));
}

// Reads quire.toml as the next kernel would. The last error of the rules is shown; quire rules
// check lists all.
Map settings_here(const std::string& workspace) {
    const auto settings = load_config(workspace);
    std::error_code missing;
    Map out{{"file", config_file(workspace)},
            {"found", std::filesystem::exists(config_file(workspace), missing)}};
    List warnings;
    if (!settings) {
        out.append("error", settings.error().message());
        if (const Value* line = settings.error().details().find("line")) out.append("line", *line);
    } else {
        for (RuleProblem& each : rule_problems(*settings)) {
            if (each.is_error) out.set("error", each.text);
            if (!each.is_error) warnings.emplace_back(std::move(each.text));
        }
    }
    out.append("needs_new_kernel", List{});
    out.append("warnings", std::move(warnings));
    return out;
}

std::string passed_over_lines(const Globals& globals) {
    std::string out;
    for (const PassedOver& each : globals.passed_over)
        cat_to(out, cat("Workspace: ", passed_over_text(each), "\n"));
    return out;
}

Result<int> run_status(const Globals& globals) {
    std::error_code missing;
    const auto workspace = std::filesystem::canonical(globals.workspace, missing);
    Map fields{{"workspace", workspace.string()}, {"running", false}};
    // A question must create nothing: neither a kernel nor the directory for its state.
    if (std::filesystem::exists(workspace / ".quire", missing)) {
        auto client = CommandClient::attach(globals, false);
        // A kernel that runs and cannot be reached is an answer too, and not "no kernel".
        if (!client && client.error().reason() != "no_kernel") return Failure(client.error());
        if (client) {
            Value answer = TRY(client->request("status"));
            fields.set("running", true);
            fields.set("pid", client->kernel_pid());
            for (Map::Entry& entry : answer.as_map()) fields.set(entry.key, std::move(entry.value));
            // This command's own session does not count.
            fields.set("sessions", status_number(fields, "sessions") - 1);
        }
    }
    if (!fields.contains("settings")) fields.set("settings", settings_here(workspace.string()));
    fields.set("store_bytes", store_size(workspace / ".quire"));
    fields.set("lost_commits", lost_commits_of(workspace.string()));
    List passed_over;
    for (const PassedOver& each : globals.passed_over)
        passed_over.push_back(Map{{"path", each.path}, {"why", each.why}});
    if (!passed_over.empty()) fields.set("passed_over", std::move(passed_over));
    return globals.json ? output_json(fields)
                        : output(cat(status_text(fields), passed_over_lines(globals)));
}

}  // namespace

Command status_command() {
    return {.name = "status",
            .about = "Print whether a kernel runs, and what it holds",
            .example = "quire status --json",
            .action = action_of(run_status),
            .touches = Touches::looks};
}

}  // namespace quire::cli
